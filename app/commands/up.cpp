// SPDX-License-Identifier: GPL-3.0-or-later
/// \file
/// `up`: starts a cluster of emulated devices, on this machine or on hosts that ssh reaches.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "agents/gpu/cuda_driver.h"
#include "agents/node/config.h"
#include "agents/sim/hardware.h"
#include "agents/sim/scenario.h"
#include "app/commands/cluster_choice.h"
#include "app/commands/command.h"
#include "app/commands/endpoint.h"
#include "app/commands/etcd_options.h"
#include "app/commands/host_cluster.h"
#include "app/commands/json.h"
#include "app/commands/local_cluster.h"
#include "app/commands/progress_line.h"
#include "app/commands/simulated_size.h"
#include "app/commands/terminal.h"
#include "app/commands/units.h"
#include "engine/files/absolute_path.h"
#include "engine/files/available_memory.h"
#include "engine/files/whole_file.h"
#include "ptc/base/counted.h"

namespace tessera::app {
namespace {

/// The name of a cluster on hosts that has none.
constexpr const char* kHostsName = "lab";
/// The value of --gpus for the devices of this machine.
constexpr const char* kCuda = "cuda";
/// The option that makes several GPUs of a device.
constexpr const char* kShares = "gpus-per-device";
/// That of a simulated one.
constexpr const char* kSimulationName = "simulated";

Status readSimulation(const Arguments& arguments, LocalClusterOptions& options) {
  for (const char* other : {"nodes", "gpus", kShares, "one-host", "hosts", "lanes", "etcd"})
    if (arguments.has(other))
      return InvalidArgument(fmt::format("--simulate and --{} exclude each other", other));
  TESSERA_TRY(const SimulatedSize size,
              parseSimulatedSize(arguments.valueOr("simulate", "")).Context("--simulate"));
  options.nodes = size.nodes;
  options.devices = size.devices;
  SimulationOptions simulation;
  simulation.hardware = arguments.valueOr("hardware", simulation.hardware);
  TESSERA_TRY(const auto hardware, agents::sim::FindHardware(simulation.hardware));
  options.deviceBytes = hardware.device_bytes;
  TESSERA_TRY(simulation.seed, arguments.integer("seed", 1, 0, INT64_MAX));
  if (const auto path = arguments.value("scenario")) {
    simulation.scenario = engine::AbsolutePath(*path);
    TESSERA_TRY(const std::string text, engine::ReadWholeFile(simulation.scenario));
    TESSERA_TRY(const auto scenario, agents::sim::ParseScenario({*path, text}));
    if (scenario.nodes > size.nodes || scenario.devices > size.devices)
      return InvalidArgument(fmt::format("--scenario is for {}x{}, more than --simulate {}x{}",
                                         scenario.nodes, scenario.devices, size.nodes,
                                         size.devices));
  }
  if (const auto text = arguments.value("speed")) {
    TESSERA_TRY(simulation.speed, parseSimulationSpeed(*text).Context("--speed"));
  }
  options.simulation = simulation;
  options.name = kSimulationName;
  return OkStatus();
}

/// Of a device's memory, the part for state: what is left is for the programs that compute there.
constexpr double kStateShare = 0.6;

/// Gives each node an equal share of this machine's CUDA devices, of which each is one GPU, or
/// several with --gpus-per-device.
Status takeCudaDevices(const Arguments& arguments, LocalClusterOptions& options) {
  if (arguments.has("one-host"))
    return InvalidArgument("nodes with GPUs share no memory: leave out --one-host");
  TESSERA_TRY(const auto driver, agents::CudaDriver::Get());
  TESSERA_TRY(const int count, driver->NumDevices());
  TESSERA_TRY(const auto shares, arguments.integer(kShares, 1, 1, 64));
  options.gpusOfDevice = static_cast<int>(shares);
  const int gpus = count * options.gpusOfDevice;
  options.devices = gpus / options.nodes;
  if (options.devices == 0)
    return InvalidArgument(
        fmt::format("this machine has {}, fewer than {}: --{} N makes N GPUs of each",
                    Counted(count, "CUDA device"), Counted(options.nodes, "node"), kShares));
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  options.cudaDevices.resize(static_cast<std::size_t>(options.nodes));
  for (int gpu = 0; gpu < options.devices * options.nodes; ++gpu) {
    const int number = gpu / options.gpusOfDevice;
    TESSERA_TRY(const agents::CudaDeviceInfo info, driver->Describe(number));
    options.cudaDevices[static_cast<std::size_t>(gpu / options.devices)].push_back(number);
    least = std::min(least, info.total_bytes);
    options.gpuName = info.name;
  }
  constexpr std::int64_t kGranule = std::int64_t{2} << 20;
  options.deviceBytes = static_cast<std::int64_t>(kStateShare * static_cast<double>(least)) /
                        options.gpusOfDevice / kGranule * kGranule;
  return OkStatus();
}

/// The memory of emulated devices is that of the machine, and is made at the start.
Status checkMemory(const LocalClusterOptions& options) {
  const auto free = engine::AvailableMemory();
  const std::int64_t devices = std::int64_t{options.nodes} * options.devices;
  if (!free || options.deviceBytes <= *free / devices) return OkStatus();
  return ResourceExhausted(fmt::format(
      "{} of {} each need more than the {} of memory that are free: choose a smaller --gpu-memory",
      Counted(devices, "emulated GPU"), formatBytes(options.deviceBytes), formatBytes(*free)));
}

Result<LocalClusterOptions> readUpOptions(const Arguments& arguments) {
  LocalClusterOptions options;
  if (arguments.has("simulate")) {
    TESSERA_RETURN_IF_ERROR(readSimulation(arguments, options));
  } else {
    for (const char* option : {"hardware", "seed", "speed", "scenario"})
      if (arguments.has(option))
        return InvalidArgument(fmt::format("--{} is of use only with --simulate", option));
    const bool isCuda = arguments.valueOr("gpus", "") == kCuda;
    TESSERA_TRY(const auto nodes, arguments.integer("nodes", isCuda ? 1 : options.nodes, 1, 64));
    options.nodes = static_cast<int>(nodes);
    if (isCuda) {
      TESSERA_RETURN_IF_ERROR(takeCudaDevices(arguments, options).Context("--gpus cuda"));
    } else {
      if (arguments.has(kShares))
        return InvalidArgument(fmt::format("--{} is of use only with --gpus cuda", kShares));
      TESSERA_TRY(const auto devices, arguments.integer("gpus", options.devices, 1, 64));
      options.devices = static_cast<int>(devices);
    }
  }
  TESSERA_TRY(const auto racks, arguments.integer("racks", 0, 1, options.nodes));
  options.racks = static_cast<int>(racks);
  if (const auto text = arguments.value("gpu-memory")) {
    TESSERA_TRY(options.deviceBytes, parseGpuMemory(*text));
  }
  if (!arguments.has("hosts") && !arguments.has("simulate") &&
      arguments.valueOr("gpus", "") != kCuda)
    TESSERA_RETURN_IF_ERROR(checkMemory(options));
  if (const auto text = arguments.value("link")) {
    TESSERA_TRY(options.linkBytesPerSecond, parseRate(*text).Context("--link"));
  }
  TESSERA_TRY(options.etcd, readEtcd(arguments, ""));
  options.oneHost = arguments.has("one-host");
  options.plainLanes = arguments.valueOr("lanes", "curve") == agents::kPlainLanes;
  if (const std::string chosen = clusterFromCommandLine(arguments); !chosen.empty())
    options.name = chosen;
  TESSERA_RETURN_IF_ERROR(checkName("cluster name", options.name));
  return options;
}

Result<HostClusterOptions> readHostOptions(const Arguments& arguments) {
  if (arguments.valueOr("gpus", "") == kCuda)
    return InvalidArgument("--hosts with --gpus cuda: set the nodes up with `node setup`");
  for (const char* other : {"nodes", kShares, "one-host", "racks"})
    if (arguments.has(other))
      return InvalidArgument(fmt::format("--hosts and --{} exclude each other", other));
  TESSERA_TRY(const LocalClusterOptions common, readUpOptions(arguments));
  HostClusterOptions options;
  options.name = clusterFromCommandLine(arguments).empty() ? kHostsName : common.name;
  TESSERA_TRY(options.hosts,
              parseHosts(arguments.valueOr("hosts", ""), common.devices).Context("--hosts"));
  if (const auto command = arguments.value("ssh")) {
    if (command->find_first_not_of(' ') == std::string::npos)
      return InvalidArgument("--ssh names no program");
    options.ssh = Ssh(*command);
  }
  options.folder = arguments.valueOr("folder", "");
  TESSERA_TRY(const auto port, arguments.integer("port", kDefaultPort, 1024, 65530));
  options.port = static_cast<int>(port);
  options.deviceBytes = common.deviceBytes;
  options.linkBytesPerSecond = common.linkBytesPerSecond;
  options.etcd = common.etcd;
  options.plainLanes = common.plainLanes;
  return options;
}

/// Says how to choose the new cluster where other verbs mean another one.
void noteChoice(const std::string& name) {
  const auto meant = clusterOf("");
  if (!meant || *meant != name)
    fmt::print("other verbs mean {}: choose this one with --cluster {} or `profile use {}`\n",
               meant ? fmt::format("'{}'", *meant) : "no cluster yet", name, name);
}

int runUpOnHosts(const Invocation& call) {
  TESSERA_OR_USAGE(auto options, readHostOptions(call.arguments));
  ProgressLine progress(call.json || call.quiet);
  Json hosts = Json::array();
  options.working = [&progress](const std::string& what) { progress.show(what); };
  options.started = [&](const HostProgress& now) {
    hosts.push_back({{"node", fmt::format("n{}", now.node)},
                     {"host", now.host},
                     {"endpoint", "tcp://" + now.endpoint},
                     {"devices", now.devices}});
    if (call.json) return;
    progress.clear();
    fmt::print("n{:<3} {} at {}, {}\n", now.node, now.host, now.endpoint,
               Counted(now.devices, "emulated GPU"));
    flushOutput();
  };
  const auto profile = startHostCluster(options);
  progress.clear();
  if (!profile) return failed(profile.error());
  if (call.json) {
    printLine({{"name", profile->name},
               {"profile", profilePath(profile->name)},
               {"registrar", profile->registrar_endpoint},
               {"directory", localClusterFolder(profile->name)},
               {"nodes", options.hosts.size()},
               {"hosts", std::move(hosts)},
               {"link_bytes_per_second", options.linkBytesPerSecond},
               {"lanes", options.plainLanes ? agents::kPlainLanes : agents::kCurveLanes}});
    return kDone;
  }
  fmt::print("cluster '{}' is up: {}, {} per GPU{}\n", profile->name,
             Counted(std::ssize(options.hosts), "node"), formatBytes(options.deviceBytes),
             options.plainLanes ? ", plain lanes (bulk data is not encrypted)" : "");
  fmt::print("profile    {}\nregistrar  {}\n", profilePath(profile->name),
             profile->registrar_endpoint);
  noteChoice(profile->name);
  return kDone;
}

std::string kindOfGpu(const LocalClusterOptions& options) {
  if (options.simulation) return "simulated GPU";
  return options.gpuName.empty() ? "emulated GPU" : options.gpuName;
}

int runUp(const Invocation& call) {
  if (call.arguments.has("hosts")) return runUpOnHosts(call);
  for (const char* option : {"ssh", "folder", "port"})
    if (call.arguments.has(option))
      return wrongUsage(InvalidArgument(fmt::format("--{} is of use only with --hosts", option)));
  TESSERA_OR_USAGE(auto options, readUpOptions(call.arguments));
  ProgressLine progress(call.json || call.quiet);
  options.progress = showMemory(progress);
  const auto profile = startLocalCluster(options);
  progress.clear();
  if (!profile) return failed(profile.error());
  if (call.json) {
    printLine({{"name", profile->name},
               {"profile", profilePath(profile->name)},
               {"registrar", profile->registrar_endpoint},
               {"directory", profile->directory},
               {"nodes", options.nodes},
               {"devices", options.devices},
               {"link_bytes_per_second", options.linkBytesPerSecond},
               {"lanes", options.plainLanes ? agents::kPlainLanes : agents::kCurveLanes},
               {"simulated", options.simulation.has_value()}});
    return kDone;
  }
  fmt::print("cluster '{}' is up: {} of {} with {} each{}{}{}\n", options.name,
             Counted(options.nodes, "node"), Counted(options.devices, kindOfGpu(options)),
             formatBytes(options.deviceBytes),
             options.gpusOfDevice > 1 ? fmt::format(", {} on each device", options.gpusOfDevice)
             : options.oneHost        ? ", one host"
                                      : "",
             options.linkBytesPerSecond > 0
                 ? fmt::format(", links of {} MB/s ({})",
                               static_cast<double>(options.linkBytesPerSecond) / 1e6,
                               options.simulation ? "simulated" : "emulated")
                 : "",
             options.plainLanes ? ", plain lanes (bulk data is not encrypted)" : "");
  if (!options.etcd.endpoints.empty())
    fmt::print("decides    in etcd, {}\n", fmt::join(options.etcd.endpoints, ", "));
  fmt::print("profile    {}\nregistrar  {}\nfolder     {}\n", profilePath(profile->name),
             profile->registrar_endpoint, profile->directory);
  noteChoice(profile->name);
  return kDone;
}

}  // namespace

Command upCommand() {
  Command command{
      {.verb = "up",
       .summary = "Start a cluster of emulated GPUs, on this machine or over ssh",
       .options =
           {{.name = "nodes",
             .value = "N",
             .help = "number of nodes, each with an agent of its own",
             .fallback = "2"},
            {.name = "gpus",
             .value = "N",
             .help = "emulated GPUs per node; cuda: the CUDA devices of this machine, in equal "
                     "shares for the nodes, of which there is one without --nodes",
             .fallback = "4"},
            {.name = kShares,
             .value = "N",
             .help = "with --gpus cuda: N GPUs of the cluster share each device, to try "
                     "changes on a machine with few",
             .fallback = "1"},
            {.name = "gpu-memory",
             .value = "SIZE",
             .help = "memory per GPU for state, in binary units",
             .fallback = "512M; with --gpus cuda 60 % of the device"},
            {.name = "link",
             .value = "RATE",
             .help = "bandwidth of each node's emulated network port in each direction, "
                     "such as 100MB/s",
             .fallback = "no limit"},
            {.name = "one-host",
             .value = "",
             .help = "let all nodes share memory instead of sending over the network"},
            {.name = "racks",
             .value = "N",
             .help = "put the nodes in N racks, r0, r1 and so on, in equal shares",
             .fallback = fmt::format("none; with --simulate {} nodes in each",
                                     agents::sim::Hardware().nodes_per_rack)},
            lanesOption(),
            {.name = "hosts",
             .value = "HOSTS",
             .help =
                 "start a node on each of these machines over ssh, such as a,lena@b/r1,c:2 (b in "
                 "rack r1, 2 GPUs on c); the registrar runs on the first"},
            {.name = "ssh",
             .value = "COMMAND",
             .help = "with --hosts: OpenSSH's ssh with its options, such as \"ssh -J gate\"",
             .fallback = "ssh"},
            {.name = "folder",
             .value = "DIR",
             .help = "with --hosts: folder there for keys, logs and state, on a disk of the host",
             .fallback = "clusters in the TESSERA_HOME there"},
            {.name = "port",
             .value = "PORT",
             .help = "with --hosts: first of the six ports of each agent",
             .fallback = std::to_string(kDefaultPort)},
            {.name = "simulate",
             .value = "NxM",
             .help = "simulate N nodes of M GPUs: nothing in them is real but the messages"},
            {.name = "hardware",
             .value = "NAME",
             .help =
                 fmt::format("with --simulate: {}", fmt::join(agents::sim::HardwareNames(), ", ")),
             .fallback = "h100"},
            {.name = "seed",
             .value = "S",
             .help = "with --simulate: of all chance",
             .fallback = "1"},
            {.name = "scenario",
             .value = "FILE",
             .help = "with --simulate: play the acts of this file, on the cluster of this command"},
            {.name = "speed",
             .value = "X",
             .help = "with --simulate: simulated seconds per second",
             .fallback = "1"},
            {.name = "cluster",
             .value = "CLUSTER",
             .help = "name of the cluster and of its profile",
             .fallback =
                 "$TESSERA_CLUSTER, else local, with --hosts lab, with --simulate simulated"},
            quietOption()},
       .notes =
           {"A stopped cluster of the same name is replaced, with its logs. Its history goes on, "
            "except after a simulation: that of the last one is kept as history.db.last.",
            "With --hosts, each machine needs the same version of the programs, in the folder "
            "that they have here or in the PATH that ssh gives there, and `ssh HOST true` has "
            "to work without a password. Agents run as the user of ssh, and their jobs may run "
            "programs and use files as that user. The key of each node goes there over ssh, "
            "into a file with mode 600. If one host fails, those that have started are ended.",
            "With --simulate, one process plays all nodes: the real registrar and agents with "
            "modelled ranks, links and memory. Times follow from the hardware, and a job trains "
            "nothing. --gpu-memory and --link replace what the hardware has."},
       .examples = {"tesseractl up", "tesseractl up --nodes 2 --gpus 4 --link 100MB/s",
                    "tesseractl up --cluster lab --nodes 1", "tesseractl up --gpus cuda",
                    "tesseractl up --gpus cuda --gpus-per-device 4",
                    "tesseractl up --hosts a,lena@b,c:2 --gpu-memory 2G",
                    "tesseractl up --simulate 16x8 --hardware h100"}},
      runUp};
  const auto etcd = etcdOptions();
  auto& options = command.syntax.options;
  options.insert(options.end() - 2, etcd.begin(), etcd.end());  // before --cluster
  return command;
}

}  // namespace tessera::app
