// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/commands/local_cluster.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <thread>

#include "agents/keeper/memory_progress.h"
#include "agents/node/config.h"
#include "agents/registrar/measured_rows.h"
#include "agents/wire/convert.h"
#include "agents/wire/tessera/wire/control.pb.h"
#include "app/commands/cluster_lock.h"
#include "app/commands/kept_history.h"
#include "app/commands/paths.h"
#include "app/commands/process.h"
#include "app/commands/progress_line.h"
#include "app/commands/units.h"
#include "engine/files/absolute_path.h"
#include "engine/files/whole_file.h"
#include "ptc/base/counted.h"

namespace tessera::app {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kClusterPatience{45};  // without progress
constexpr int kLanesPerNode = 2;

fs::path clustersFolder(const std::string& home = {}) {
  return fs::path(engine::AbsolutePath(home.empty() ? agents::TesseraHome() : home)) / "clusters";
}
fs::path keepersFile(const fs::path& directory) { return directory / "keepers.json"; }
fs::path nodeFolder(const fs::path& directory, int node) {
  return directory / fmt::format("n{}", node);
}

/// Makes a folder with mode 0700.
Status makePrivate(const fs::path& folder) {
  std::error_code failure;
  fs::create_directories(folder, failure);
  if (!failure) fs::permissions(folder, fs::perms::owner_all, failure);
  if (failure)
    return Unavailable(fmt::format("cannot make {}: {}", folder.string(), failure.message()));
  return OkStatus();
}

/// The first port that the kernel gives to outgoing connections.
int firstEphemeralPort() {
  int first = 0;
  std::ifstream("/proc/sys/net/ipv4/ip_local_port_range") >> first;
  return first > 0 ? first : 32768;
}

/// Free TCP ports of the loopback. They are below the ephemeral ports, which any connection might
/// take before the agents bind them. The search begins at a random port, so that clusters that
/// start at the same time get different ones.
Result<std::vector<int>> freePorts(std::size_t count) {
  constexpr int kRange = 16384;
  const int end = firstEphemeralPort();
  const int begin = std::max(1024, end - kRange);
  if (begin >= end) return Unavailable(fmt::format("no ports below {}", end));
  const auto size = static_cast<unsigned>(end - begin);
  const unsigned start = std::random_device{}() % size;
  std::vector<int> sockets, ports;  // all are held open until all are known
  for (unsigned i = 0; i < size && ports.size() < count; ++i) {
    const int port = begin + static_cast<int>((start + i) % size);
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    if (fd < 0) break;
    if (bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) {
      sockets.push_back(fd);
      ports.push_back(port);
    } else {
      close(fd);
    }
  }
  for (const int fd : sockets) close(fd);
  if (ports.size() < count)
    return Unavailable(fmt::format("{} of {} ports between {} and {} of 127.0.0.1 are free",
                                   ports.size(), count, begin, end - 1));
  return ports;
}

bool answers(const std::string& endpoint) {
  const auto colon = endpoint.rfind(':');
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return false;
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(std::atoi(endpoint.c_str() + colon + 1)));
  const bool connected = connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  close(fd);
  return connected;
}

/// The start of the line that a keeper writes when it starts its agent again.
constexpr std::string_view kAgentEnded = "keeper: the agent ";

/// The last line that is not only about the end of the agent.
std::string lastLine(const fs::path& log) {
  std::ifstream file(log);
  std::string line, last;
  while (std::getline(file, line))
    if (!line.empty() && (last.empty() || !line.starts_with(kAgentEnded))) last = line;
  return last;
}

/// How often the agent of a node has ended.
int countEnds(const fs::path& log) {
  std::ifstream file(log);
  int ends = 0;
  for (std::string line; std::getline(file, line);) ends += line.starts_with(kAgentEnded) ? 1 : 0;
  return ends;
}

Status saveKeepers(const fs::path& directory, const std::vector<ProcessId>& keepers) {
  nlohmann::json json = nlohmann::json::array();
  for (const ProcessId& keeper : keepers)
    json.push_back({{"pid", keeper.pid}, {"start", keeper.start}});
  return engine::WriteWholeFile(keepersFile(directory), json.dump() + '\n', 0600);
}

std::string configOf(const fs::path& directory, int node) {
  return (nodeFolder(directory, node) / "agent.json").string();
}

/// The saved keeper of each node; a default one for an entry that cannot be read.
std::vector<ProcessId> savedKeepers(const fs::path& directory) {
  const auto text = engine::ReadWholeFile(keepersFile(directory));
  const auto json = nlohmann::json::parse(text.value_or(""), nullptr, false);
  std::vector<ProcessId> keepers;
  if (!json.is_array()) return keepers;
  for (const auto& entry : json) {
    ProcessId& keeper = keepers.emplace_back();
    if (!entry.is_object() || !entry.contains("pid") || !entry["pid"].is_number_integer() ||
        !entry.contains("start") || !entry["start"].is_number_unsigned())
      continue;
    keeper = {entry["pid"].get<pid_t>(), entry["start"].get<std::uint64_t>()};
  }
  return keepers;
}

/// Whether the process is alive and still the keeper of the node.
bool keeps(const ProcessId& keeper, const fs::path& directory, int node) {
  return keeper.pid > 0 && isAlive(keeper) && hasArgument(keeper, configOf(directory, node));
}

std::vector<ProcessId> livingKeepers(const fs::path& directory) {
  const std::vector<ProcessId> saved = savedKeepers(directory);
  std::vector<ProcessId> keepers;
  for (int node = 0; node < std::ssize(saved); ++node)
    if (const ProcessId& keeper = saved[static_cast<std::size_t>(node)];
        keeps(keeper, directory, node))
      keepers.push_back(keeper);
  return keepers;
}

/// Ends keepers and their descendants: waits `grace` for them, then sends SIGTERM, then SIGKILL.
void endKeepers(const std::vector<ProcessId>& keepers, std::chrono::milliseconds grace) {
  std::vector<ProcessId> family = keepers;
  for (const ProcessId& keeper : keepers)
    for (const ProcessId& process : descendantsOf(keeper)) family.push_back(process);
  if (waitGone(keepers, grace) && waitGone(family, std::chrono::seconds(2))) return;
  for (const ProcessId& keeper : keepers) signalProcess(keeper, SIGTERM);
  waitGone(keepers, std::chrono::seconds(3));
  for (const ProcessId& keeper : keepers)
    for (const ProcessId& process : descendantsOf(keeper)) family.push_back(process);
  for (const ProcessId& keeper : keepers) signalProcess(keeper, SIGKILL);
  if (!waitGone(family, std::chrono::seconds(2)))
    for (const ProcessId& process : family) signalProcess(process, SIGKILL);
  waitGone(family, std::chrono::seconds(2));
}

void removeSockets(const fs::path& directory) {
  std::error_code ended, ignored;
  std::vector<fs::path> sockets;
  for (fs::recursive_directory_iterator it(directory, ended), end; !ended && it != end;
       it.increment(ended))
    if (it->is_socket(ignored)) sockets.push_back(it->path());
  for (const fs::path& socket : sockets) fs::remove(socket, ignored);
}

/// One process is all nodes of a simulated cluster.
int numProcesses(const LocalClusterOptions& options) {
  return options.simulation ? 1 : options.nodes;
}

/// Writes keys and configurations.
/// \return the profile, and each node's configuration file
struct Prepared {
  agents::Profile profile;
  std::vector<std::string> configs;
};
Result<Prepared> prepare(const LocalClusterOptions& options, const fs::path& directory) {
  TESSERA_RETURN_IF_ERROR(makePrivate(directory.parent_path().parent_path()));
  const bool isReal = !options.simulation.has_value();
  const auto measured =
      isReal ? keptMeasurements(directory.string()) : std::vector<engine::RowChange>();
  TESSERA_RETURN_IF_ERROR(
      clearClusterFolder(directory.string(), options.simulation.has_value()));
  TESSERA_RETURN_IF_ERROR(makePrivate(directory));
  const fs::path allowed = directory / "allowed";
  TESSERA_RETURN_IF_ERROR(makePrivate(allowed));
  const auto makeKeys = [&allowed](const fs::path& file, const std::string& name,
                                   const std::string& role) -> Result<std::string> {
    const agents::CurveKeys keys = agents::NewCurveKeys();
    TESSERA_RETURN_IF_ERROR(agents::SaveKeys(keys, file.string()));
    TESSERA_RETURN_IF_ERROR(
        agents::SavePublicKey(keys.public_key, (allowed / (name + ".pub")).string(), role));
    return keys.public_key;
  };
  const fs::path operatorFile = directory / "operator.key";
  TESSERA_RETURN_IF_ERROR(makeKeys(operatorFile, "operator", "operator"));

  constexpr std::size_t kPortsPerNode = 2 + kLanesPerNode;
  const int processes = numProcesses(options);
  TESSERA_TRY(const auto ports, freePorts(kPortsPerNode * static_cast<std::size_t>(processes)));
  const auto endpoint = [&](int node, std::size_t i) {
    return fmt::format("tcp://127.0.0.1:{}",
                       ports[static_cast<std::size_t>(node) * kPortsPerNode + i]);
  };
  Prepared prepared;
  std::string registrarKey;
  agents::EtcdPlace etcd = options.etcd;
  // An earlier cluster of this name may have left its decisions there.
  if (etcd.prefix.empty())
    etcd.prefix = fmt::format("/tessera/{}-{:08x}", options.name, std::random_device{}());
  for (int node = 0; node < processes; ++node) {
    agents::AgentConfig config;
    config.cluster = options.name;
    config.node = node;
    config.host = fmt::format("{}-n{}", options.name, options.oneHost ? 0 : node);
    config.directory = nodeFolder(directory, node).string();
    config.endpoint = endpoint(node, 0);
    config.events = endpoint(node, 1);
    for (std::size_t lane = 0; lane < kLanesPerNode; ++lane)
      config.lanes.push_back(endpoint(node, 2 + lane));
    config.registrar_endpoint = endpoint(0, 0);
    config.devices = options.devices;
    config.device_bytes = options.deviceBytes;
    if (!options.cudaDevices.empty())
      config.cuda_devices = options.cudaDevices[static_cast<std::size_t>(node)];
    config.link_bytes_per_second = options.linkBytesPerSecond;
    config.etcd = etcd;
    if (options.plainLanes) config.lane_security = agents::kPlainLanes;
    if (const auto& simulation = options.simulation)
      config.simulation = {options.nodes,     simulation->hardware, simulation->seed,
                           simulation->speed, simulation->scenario, simulation->ahead};
    if (config.simulation)
      config.simulation->racks = options.racks;
    else if (options.racks > 0)
      config.rack = agents::RackOf(node, options.nodes, options.racks);
    config.agent_keys = (nodeFolder(directory, node) / "agent.key").string();
    config.log_file = agentLog(directory.string(), node);
    config.allowed_folder = allowed.string();
    TESSERA_RETURN_IF_ERROR(makePrivate(config.directory));
    TESSERA_TRY(const std::string key, makeKeys(config.agent_keys, fmt::format("n{}", node),
                                                fmt::format("node {}", node)));
    if (node == 0) registrarKey = key;
    config.registrar_key = registrarKey;
    prepared.configs.push_back(configOf(directory, node));
    TESSERA_RETURN_IF_ERROR(agents::SaveAgentConfig(config, prepared.configs.back()));
  }
  TESSERA_RETURN_IF_ERROR(writeMeasurements(nodeFolder(directory, 0).string(), measured));
  for (const engine::RowChange& row : measured)
    if (row.key == agents::kCalibrationRow) prepared.profile.calibration = *row.value;
  prepared.profile.name = options.name;
  prepared.profile.registrar_endpoint = endpoint(0, 0);
  prepared.profile.events_endpoint = endpoint(0, 1);
  prepared.profile.server_key = registrarKey;
  prepared.profile.key_file = operatorFile.string();
  prepared.profile.directory = directory.string();
  return prepared;
}

/// The error for a node that does not come up, with its progress in making memory and the last line
/// of its log.
Error notUp(const fs::path& directory, int node, const std::string& what) {
  const std::string line = lastLine(agentLog(directory.string(), node));
  const auto memory = agents::ReadMemoryProgress(nodeFolder(directory, node).string());
  return Unavailable(fmt::format(
      "node n{} {}{}{}", node, what,
      memory && memory->made_bytes < memory->total_bytes
          ? fmt::format("; it has made {} of {} of memory", formatBytes(memory->made_bytes),
                        formatBytes(memory->total_bytes))
          : "",
      line.empty() ? "; its log is empty" : "; it wrote last: " + line));
}

Result<engine::ClusterSnapshot> snapshotOf(agents::ClusterClient& client) {
  wire::Request request;
  request.mutable_status();
  TESSERA_TRY(const auto reply, client.CallAndWait(std::move(request), std::chrono::seconds(2)));
  return agents::Decode(reply.status());
}

/// Why the agent of the node takes no part; empty if it does.
std::string problemOf(const engine::ClusterSnapshot& snapshot, int node) {
  const auto found = std::ranges::find(snapshot.nodes, node, &engine::NodeStatus::node);
  return found == snapshot.nodes.end() ? std::string() : found->problem;
}

/// An agent that has ended this often during a start will not do better.
constexpr int kHopelessEnds = 4;

/// Waits until the registrar reports the nodes of `keepers` as alive, with `devices` each.
Status waitAlive(const agents::Profile& profile, const std::map<int, ProcessId>& keepers,
                 int devices, const MemoryProgress& progress) {
  std::vector<std::string> folders;
  for (const auto& [node, keeper] : keepers)
    folders.push_back(nodeFolder(profile.directory, node).string());
  agents::MemoryWatch memory(folders, kClusterPatience);
  const auto isOver = [&] {
    const bool over = memory.IsOver();
    if (progress) progress(memory.progress().made_bytes, memory.progress().total_bytes);
    return over;
  };
  std::map<int, int> endsBefore;
  for (const auto& [node, keeper] : keepers)
    endsBefore[node] = countEnds(agentLog(profile.directory, node));
  const auto ended = [&]() -> Status {
    for (const auto& [node, keeper] : keepers) {
      if (!isAlive(keeper)) return notUp(profile.directory, node, "ended");
      const int ends = countEnds(agentLog(profile.directory, node)) - endsBefore[node];
      if (ends >= kHopelessEnds)
        return notUp(profile.directory, node,
                     fmt::format("does not start: its agent has ended {} times", ends));
    }
    return OkStatus();
  };
  while (!answers(profile.registrar_endpoint)) {
    TESSERA_RETURN_IF_ERROR(ended());
    if (isOver())
      return notUp(profile.directory, 0,
                   fmt::format("did not answer at {} within {} s", profile.registrar_endpoint,
                               kClusterPatience.count()));
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  TESSERA_TRY(const auto client, agents::ClusterClient::OpenForCommands(profile));
  int waitingFor = keepers.begin()->first;
  std::string problem;
  while (!isOver()) {
    TESSERA_RETURN_IF_ERROR(ended());
    const auto snapshot = snapshotOf(*client);
    if (snapshot) {
      const auto isReady = [&](const auto& entry) {
        const auto node =
            std::ranges::find(snapshot->nodes, entry.first, &engine::NodeStatus::node);
        return node != snapshot->nodes.end() && node->state == engine::NodeState::kAlive &&
               std::ssize(node->devices) == devices;
      };
      const auto missing = std::ranges::find_if_not(keepers, isReady);
      if (missing == keepers.end()) return OkStatus();
      waitingFor = missing->first;
      problem = problemOf(*snapshot, waitingFor);
    } else if (snapshot.error().code != ErrorCode::kTimeout &&
               snapshot.error().code != ErrorCode::kUnavailable) {
      return snapshot.error();
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  if (!problem.empty()) return Unavailable(problem);
  return notUp(profile.directory, waitingFor,
               fmt::format("was not alive within {} s", kClusterPatience.count()));
}

/// Excludes other processes that hold the lock of the same folder.
class FolderLock {
 public:
  explicit FolderLock(const fs::path& folder)
      : m_fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    while (m_fd >= 0 && ::flock(m_fd, LOCK_EX) != 0 && errno == EINTR) {
    }
  }
  ~FolderLock() {
    if (m_fd >= 0) ::close(m_fd);
  }
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int m_fd;
};

/// The error for a node whose keeper is alive.
Error runningError(const agents::Profile& profile, int node) {
  std::string problem;
  if (answers(profile.registrar_endpoint)) {
    const auto client = agents::ClusterClient::OpenForCommands(profile);
    const auto snapshot = client ? snapshotOf(**client) : client.error();
    if (snapshot) problem = problemOf(*snapshot, node);
  }
  return FailedPrecondition(problem.empty()
                                ? fmt::format("node n{} is running", node)
                                : fmt::format("the keeper of n{} is alive: {}", node, problem));
}

/// \error kNotFound if the cluster has no such node; kFailedPrecondition if the node runs
Status checkEnded(const agents::Profile& profile, int node) {
  const std::vector<ProcessId> keepers = savedKeepers(profile.directory);
  if (node >= std::ssize(keepers))
    return NotFound(fmt::format("node n{} does not exist: cluster '{}' has {}", node, profile.name,
                                Counted(std::ssize(keepers), "node")));
  if (keeps(keepers[static_cast<std::size_t>(node)], profile.directory, node))
    return runningError(profile, node);
  return OkStatus();
}

/// Waits until the registrar no longer takes the node for alive, which it does for some seconds
/// after the node's end.
Status waitMissed(const agents::Profile& profile, int node) {
  if (!answers(profile.registrar_endpoint)) return OkStatus();  // its node may be the one
  TESSERA_TRY(const auto client, agents::ClusterClient::OpenForCommands(profile));
  const auto deadline = Clock::now() + kClusterPatience;
  while (Clock::now() < deadline) {
    const auto snapshot = snapshotOf(*client);
    if (!snapshot) return OkStatus();
    const auto found = std::ranges::find(snapshot->nodes, node, &engine::NodeStatus::node);
    if (found == snapshot->nodes.end() || found->state != engine::NodeState::kAlive)
      return OkStatus();
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  return Unavailable(fmt::format("the registrar still takes node n{} for alive", node));
}

std::vector<std::string> stemsIn(const fs::path& folder, bool folders) {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& entry : entriesOf(folder, ignored)) {
    if (folders && entry.is_directory(ignored)) names.push_back(entry.path().filename().string());
    if (!folders && entry.path().extension() == ".json")
      names.push_back(entry.path().stem().string());
  }
  return names;
}

}  // namespace

MemoryProgress showMemory(ProgressLine& line) {
  return [&line](std::int64_t made, std::int64_t total) {
    if (made < total)
      line.show(fmt::format("making memory: {} of {}", formatBytes(made), formatBytes(total)));
  };
}

Result<agents::Profile> startLocalCluster(const LocalClusterOptions& options) {
  const fs::path clusters = clustersFolder(options.home), directory = clusters / options.name;
  TESSERA_TRY(const ClusterLock lock, ClusterLock::take(clusters.string(), options.name, "up"));
  if (isRunning(directory.string()))
    return AlreadyExists(
        fmt::format("cluster '{}' is running; `tesseractl down --cluster {}` stops it",
                    options.name, options.name));
  const std::string program = programFolder() + "/tessera-agent";
  if (access(program.c_str(), X_OK) != 0)
    return NotFound(fmt::format("{} is missing beside tesseractl", program));
  TESSERA_TRY(const auto prepared, prepare(options, directory));

  std::vector<ProcessId> keepers;
  Status status = OkStatus();
  for (int node = 0; node < numProcesses(options) && status; ++node) {
    const std::string& config = prepared.configs[static_cast<std::size_t>(node)];
    const auto keeper =
        startDaemon({program, "--config", config}, nodeFolder(directory, node).string(),
                    agentLog(directory.string(), node), options.home);
    if (keeper)
      keepers.push_back(*keeper);
    else
      status = keeper.error();
  }
  if (status) status = saveKeepers(directory, keepers);
  std::map<int, ProcessId> awaited;
  for (int node = 0; node < options.nodes && !keepers.empty(); ++node)
    awaited.emplace(
        node, keepers[std::min<std::size_t>(static_cast<std::size_t>(node), keepers.size() - 1)]);
  if (status) status = waitAlive(prepared.profile, awaited, options.devices, options.progress);
  if (status && options.home.empty()) status = agents::SaveProfile(prepared.profile);
  if (!status) {
    endKeepers(keepers, std::chrono::milliseconds(0));
    removeSockets(directory);
    return status.error();
  }
  return prepared.profile;
}

Status startLocalNode(const agents::Profile& profile, int node, const MemoryProgress& progress) {
  const fs::path directory = profile.directory;
  TESSERA_RETURN_IF_ERROR(checkEnded(profile, node));
  TESSERA_RETURN_IF_ERROR(waitMissed(profile, node));
  const std::string config = configOf(directory, node);
  TESSERA_TRY(const agents::AgentConfig read, agents::LoadAgentConfig(config));
  ProcessId keeper;
  {
    const FolderLock lock(directory);  // another node may be started at the same time, or this one
    TESSERA_RETURN_IF_ERROR(checkEnded(profile, node));
    std::vector<ProcessId> keepers = savedKeepers(directory);
    TESSERA_TRY(keeper, startDaemon({programFolder() + "/tessera-agent", "--config", config},
                                    nodeFolder(directory, node).string(),
                                    agentLog(directory.string(), node), {}));
    keepers[static_cast<std::size_t>(node)] = keeper;
    if (Status saved = saveKeepers(directory, keepers); !saved) {
      endKeepers({keeper}, std::chrono::milliseconds(0));
      return saved;
    }
  }
  return waitAlive(profile, {{node, keeper}}, read.devices, progress);
}

Result<bool> stopLocalCluster(const std::string& name) {
  const fs::path directory = clustersFolder() / name;
  std::error_code ignored;
  if (!fs::is_directory(directory, ignored))
    return NotFound(fmt::format("no local cluster is named '{}'", name));
  TESSERA_TRY(const ClusterLock lock, ClusterLock::take(clustersFolder().string(), name, "down"));
  const std::vector<ProcessId> keepers = livingKeepers(directory);
  if (!keepers.empty()) {
    std::chrono::milliseconds grace{0};
    if (const auto profile = agents::LoadProfile(profilePath(name)); profile) {
      if (const auto client = agents::ClusterClient::OpenForCommands(*profile); client) {
        wire::Request request;
        request.mutable_shutdown();
        if ((*client)->CallAndWait(std::move(request), std::chrono::seconds(3)))
          grace = std::chrono::seconds(5);
      }
    }
    endKeepers(keepers, grace);
  }
  removeSockets(directory);
  fs::remove(keepersFile(directory), ignored);
  fs::remove(profilePath(name), ignored);
  return !keepers.empty();
}

Result<LocalClusterOptions> stoppedClusterOptions(const std::string& name) {
  const fs::path directory = clustersFolder() / name;
  std::error_code ignored;
  if (fs::exists(directory / kStoppedHostsFile, ignored))
    return NotFound(fmt::format("cluster '{}' ran on other machines", name));
  TESSERA_TRY(const agents::AgentConfig first, agents::LoadAgentConfig(configOf(directory, 0)));
  LocalClusterOptions options;
  options.name = name;
  options.devices = first.devices;
  options.deviceBytes = first.device_bytes;
  options.linkBytesPerSecond = first.link_bytes_per_second;
  options.plainLanes = first.lane_security == agents::kPlainLanes;
  options.etcd = first.etcd;
  options.etcd.prefix.clear();  // a new cluster decides in a place of its own
  if (first.simulation) {
    const agents::SimulationConfig& played = *first.simulation;
    options.nodes = static_cast<int>(played.nodes);
    options.racks = static_cast<int>(played.racks);
    options.simulation = SimulationOptions{played.hardware, played.seed, played.speed,
                                           played.scenario, played.ahead};
    return options;
  }
  std::set<std::string> racks;
  int nodes = 0;
  for (; fs::exists(configOf(directory, nodes), ignored); ++nodes) {
    TESSERA_TRY(const auto config, agents::LoadAgentConfig(configOf(directory, nodes)));
    if (!config.rack.empty()) racks.insert(config.rack);
    if (!config.cuda_devices.empty()) options.cudaDevices.push_back(config.cuda_devices);
    options.oneHost = nodes > 0 && config.host == first.host;
  }
  options.nodes = nodes;
  options.racks = static_cast<int>(racks.size());
  return options;
}

void endPrivateCluster(const LocalClusterOptions& options) {
  const fs::path directory = clustersFolder(options.home) / options.name;
  endKeepers(livingKeepers(directory), std::chrono::milliseconds(0));
  removeSockets(directory);
}

std::string localClusterFolder(const std::string& name) {
  return (clustersFolder() / name).string();
}

bool isRunning(const std::string& directory) {
  std::error_code ignored;
  return fs::exists(fs::path(directory) / kHostsFile, ignored) || !livingKeepers(directory).empty();
}

bool isSimulated(const std::string& directory) {
  const auto config = agents::LoadAgentConfig(configOf(directory, 0));
  return config && config->simulation;
}

std::vector<std::string> localClusterNames() { return stemsIn(clustersFolder(), true); }

std::vector<std::string> profileNames() {
  return stemsIn(fs::path(agents::TesseraHome()) / "profiles", false);
}

std::string profilePath(const std::string& name) {
  return (fs::path(agents::TesseraHome()) / "profiles" / (name + ".json")).string();
}

std::string agentLog(const std::string& directory, int node) {
  return (nodeFolder(directory, node) / "agent.log").string();
}

}  // namespace tessera::app
