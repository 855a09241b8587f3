// SPDX-License-Identifier: GPL-3.0-or-later
/// \file
/// `up`: starts a local cluster of emulated devices.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "agents/node/config.h"
#include "app/commands/cluster_choice.h"
#include "app/commands/command.h"
#include "app/commands/etcd_options.h"
#include "app/commands/json.h"
#include "app/commands/local_cluster.h"
#include "app/commands/progress_line.h"
#include "app/commands/units.h"
#include "ptc/base/counted.h"

namespace tessera::app {
namespace {

Result<LocalClusterOptions> readUpOptions(const Arguments& arguments) {
  LocalClusterOptions options;
  TESSERA_TRY(const auto nodes, arguments.integer("nodes", options.nodes, 1, 64));
  TESSERA_TRY(const auto devices, arguments.integer("gpus", options.devices, 1, 64));
  options.nodes = static_cast<int>(nodes);
  options.devices = static_cast<int>(devices);
  if (const auto text = arguments.value("gpu-memory")) {
    TESSERA_TRY(options.deviceBytes, parseMemory(*text).Context("--gpu-memory"));
  }
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

int runUp(const Invocation& call) {
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
               {"lanes", options.plainLanes ? agents::kPlainLanes : agents::kCurveLanes}});
    return kDone;
  }
  fmt::print("cluster '{}' is up: {} of {} with {} each{}{}{}\n", options.name,
             Counted(options.nodes, "node"), Counted(options.devices, "emulated GPU"),
             formatBytes(options.deviceBytes), options.oneHost ? ", one host" : "",
             options.linkBytesPerSecond > 0
                 ? fmt::format(", links of {} MB/s (emulated)",
                               static_cast<double>(options.linkBytesPerSecond) / 1e6)
                 : "",
             options.plainLanes ? ", plain lanes (bulk data is not encrypted)" : "");
  if (!options.etcd.endpoints.empty())
    fmt::print("decides    in etcd, {}\n", fmt::join(options.etcd.endpoints, ", "));
  fmt::print("profile    {}\nregistrar  {}\nfolder     {}\n", profilePath(profile->name),
             profile->registrar_endpoint, profile->directory);
  return kDone;
}

}  // namespace

Command upCommand() {
  Command command{
      {.verb = "up",
       .summary = "Start a local cluster of emulated GPUs",
       .options =
           {{.name = "nodes",
             .value = "N",
             .help = "number of nodes, each with an agent of its own",
             .fallback = "2"},
            {.name = "gpus", .value = "N", .help = "emulated GPUs per node", .fallback = "4"},
            {.name = "gpu-memory",
             .value = "SIZE",
             .help = "memory per GPU, in binary units",
             .fallback = "512M"},
            {.name = "link",
             .value = "RATE",
             .help = "bandwidth of each node's emulated network port in each direction, "
                     "such as 100MB/s",
             .fallback = "no limit"},
            {.name = "one-host",
             .value = "",
             .help = "let all nodes share memory instead of sending over the network"},
            lanesOption(),
            {.name = "cluster",
             .value = "NAME",
             .help = "name of the cluster and of its profile",
             .fallback = "$TESSERA_CLUSTER, else local"},
            quietOption()},
       .notes = {"A stopped cluster of the same name is replaced, with its history and logs."},
       .examples = {"tesseractl up", "tesseractl up --nodes 2 --gpus 4 --link 100MB/s",
                    "tesseractl up --cluster lab --nodes 1"}},
      runUp};
  const auto etcd = etcdOptions();
  auto& options = command.syntax.options;
  options.insert(options.end() - 2, etcd.begin(), etcd.end());  // before --cluster
  return command;
}

}  // namespace tessera::app
