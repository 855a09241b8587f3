// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/commands/host_cluster.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <thread>

#include "agents/node/config.h"
#include "agents/wire/convert.h"
#include "agents/wire/tessera/wire/control.pb.h"
#include "app/commands/cluster_lock.h"
#include "app/commands/host_scripts.h"
#include "app/commands/interrupt.h"
#include "app/commands/kept_history.h"
#include "app/commands/local_cluster.h"
#include "app/commands/paths.h"
#include "app/commands/process.h"
#include "app/commands/session.h"
#include "app/commands/shell_words.h"
#include "app/commands/units.h"
#include "app/version.h"
#include "engine/files/absolute_path.h"
#include "engine/files/whole_file.h"
#include "ptc/base/counted.h"

namespace tessera::app {
namespace {

namespace fs = std::filesystem;
using std::chrono::seconds;
using Steady = std::chrono::steady_clock;

constexpr seconds kProbePatience{30};
constexpr seconds kStartPatience{300};  // the agent makes its memory
constexpr seconds kEndPatience{60};
constexpr seconds kNodesPatience{45};
constexpr int kShutdownGrace = 50;  // tenths of a second
constexpr int kHostLanes = 4;
constexpr int kPortsPerHost = 2 + kHostLanes;
constexpr int kMostHosts = 64;

fs::path hostsFile(const std::string& name) {
  return fs::path(engine::AbsolutePath(localClusterFolder(name))) / kHostsFile;
}

/// What hosts.json becomes when the cluster is stopped.
fs::path stoppedHostsFile(const std::string& name) {
  return hostsFile(name).parent_path() / kStoppedHostsFile;
}

/// An agent of the cluster, as hosts.json has it.
struct HostNode {
  HostSpec spec;
  int node = 0;
  std::string programs;  // folder of the programs there
  std::string folder;    // of the node there
  std::string machine;   // its own name
  std::string address;
  int port = 0;

  std::string place(int offset = 0) const {
    const bool isV6 = address.find(':') != std::string::npos;
    return fmt::format("{}{}{}:{}", isV6 ? "[" : "", address, isV6 ? "]" : "", port + offset);
  }
};

std::string assigned(std::initializer_list<std::pair<const char*, std::string>> variables) {
  std::string text;
  for (const auto& [name, value] : variables)
    text += fmt::format("{}={}\n", name, shellQuoted(value));
  return text;
}

/// Calls `work` for each at the same time.
template <typename Item, typename Work>
auto onEach(const std::vector<Item>& items, const Work& work) {
  using Outcome = decltype(work(items.front()));
  std::vector<std::optional<Outcome>> outcomes(items.size());
  std::vector<std::jthread> threads;
  for (std::size_t i = 0; i < items.size(); ++i)
    threads.emplace_back([&, i] { outcomes[i].emplace(work(items[i])); });
  threads.clear();
  std::vector<Outcome> all;
  for (auto& outcome : outcomes) all.push_back(std::move(*outcome));
  return all;
}

std::string_view answerOf(const HostAnswers& answers, std::string_view name) {
  const auto found = answers.find(name);
  return found == answers.end() ? std::string_view() : std::string_view(found->second);
}

/// Finds out what a host has.
Result<HostNode> probe(const HostClusterOptions& options, int node) {
  HostNode found{options.hosts[static_cast<std::size_t>(node)], node, {}, {}, {}, {}, 0};
  const std::string& host = found.spec.target;
  const std::string script = assigned({{"programs", programFolder()},
                                       {"folder", options.folder},
                                       {"cluster", options.name},
                                       {"node", std::to_string(node)}}) +
                             std::string(kHostFunctions) + std::string(kProbeScript);
  TESSERA_TRY(const HostAnswers answers, options.ssh.run(host, script, kProbePatience));
  found.programs = answerOf(answers, "programs");
  if (found.programs.empty())
    return NotFound(fmt::format(
        "host '{}' has no tesseractl, neither in {} nor in the PATH that ssh gives there ({}); "
        "install the same version there",
        host, programFolder(), answerOf(answers, "path")));
  const std::string wanted = fmt::format("tesseractl {}", kVersion);
  if (const auto version = answerOf(answers, "version"); version != wanted)
    return FailedPrecondition(
        fmt::format("host '{}' has '{}' in {}, and this is '{}'; install the same version there",
                    host, version, found.programs, wanted));
  const std::string_view own = kVersion;
  const std::string agent = fmt::format("tessera-agent {}", own.substr(0, own.find(' ')));
  if (!answers.contains("agent"))
    return NotFound(
        fmt::format("host '{}' has no tessera-agent beside {}/tesseractl", host, found.programs));
  if (const auto version = answerOf(answers, "agent"); version != agent)
    return FailedPrecondition(
        fmt::format("host '{}' has '{}' in {}, and '{}' belongs to this version; install the same "
                    "version there",
                    host, version, found.programs, agent));
  found.folder = answerOf(answers, "folder");
  if (const auto running = answerOf(answers, "running"); !running.empty())
    return AlreadyExists(fmt::format(
        "host '{}' runs an agent of a cluster '{}' already, as process {}; `kill` ends it", host,
        options.name, running.substr(0, running.find(' '))));
  found.machine = answerOf(answers, "machine");
  found.address = answerOf(answers, "address");
  if (found.address.empty())
    return FailedPrecondition(fmt::format(
        "host '{}' does not say under which address it was reached: its ssh server sets no "
        "SSH_CONNECTION",
        host));
  return found;
}

bool isLoopback(const HostNode& host) {
  return host.address.starts_with("127.") || host.address == "::1";
}

/// Gives each node its ports. Nodes of one address have different ones.
Status assignPorts(std::vector<HostNode>& hosts, int first) {
  const auto here = std::ranges::find_if(hosts, isLoopback);
  if (here != hosts.end() && !std::ranges::all_of(hosts, isLoopback))
    return FailedPrecondition(
        fmt::format("host '{}' is {}, where the other hosts do not reach it; name it by its "
                    "address in the network",
                    here->spec.target, here->address));
  std::map<std::string, int> next;
  for (HostNode& host : hosts) {
    int& port = next.try_emplace(host.address, first).first->second;
    host.port = port;
    port += kPortsPerHost;
    if (port > 65536)
      return InvalidArgument(fmt::format("--port {}: {} ports for each node of {} end above 65535",
                                         first, kPortsPerHost, host.address));
  }
  return OkStatus();
}

/// What is written on each host, by the path below its folder.
using HostFiles = std::map<std::string, std::string>;

/// Writes the operator's key and the public keys into the cluster's folder.
/// \return the profile, and the files of each host
Result<std::pair<agents::Profile, std::vector<HostFiles>>> makeFiles(
    const HostClusterOptions& options, const std::vector<HostNode>& hosts, const fs::path& folder) {
  const fs::path allowed = folder / "allowed";
  const fs::path staging = folder / "secret";  // nothing stays in it
  std::error_code failure;
  fs::create_directories(allowed, failure);
  if (!failure) fs::create_directory(staging, failure);
  for (const fs::path& each : {folder, allowed, staging})
    if (!failure) fs::permissions(each, fs::perms::owner_all, failure);
  if (failure)
    return Unavailable(fmt::format("cannot make {}: {}", folder.string(), failure.message()));
  agents::Profile profile;
  profile.name = options.name;
  profile.key_file = (folder / "operator.key").string();
  const agents::CurveKeys mine = agents::NewCurveKeys();
  TESSERA_RETURN_IF_ERROR(agents::SaveKeys(mine, profile.key_file));
  TESSERA_RETURN_IF_ERROR(
      agents::SavePublicKey(mine.public_key, (allowed / "operator.pub").string(), "operator"));

  std::vector<HostFiles> files(hosts.size());
  agents::EtcdPlace etcd = options.etcd;
  if (etcd.prefix.empty())
    etcd.prefix = fmt::format("/tessera/{}-{:08x}", options.name, std::random_device{}());
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    const HostNode& host = hosts[i];
    const agents::CurveKeys keys = agents::NewCurveKeys();
    const std::string secretFile = (staging / "agent.key").string();
    TESSERA_RETURN_IF_ERROR(agents::SaveKeys(keys, secretFile));
    TESSERA_TRY(files[i]["agent.key"], engine::ReadWholeFile(secretFile));
    TESSERA_RETURN_IF_ERROR(agents::SavePublicKey(
        keys.public_key, (allowed / fmt::format("n{}.pub", host.node)).string(),
        fmt::format("node {}", host.node)));
    agents::AgentConfig config;
    config.cluster = options.name;
    config.node = host.node;
    config.host = host.machine;
    config.rack = host.spec.rack;
    config.directory = host.folder;
    config.endpoint = "tcp://" + host.place();
    config.events = "tcp://" + host.place(1);
    for (int lane = 0; lane < kHostLanes; ++lane)
      config.lanes.push_back("tcp://" + host.place(2 + lane));
    config.registrar_endpoint = "tcp://" + hosts[0].place();
    config.devices = host.spec.devices;
    config.device_bytes = options.deviceBytes;
    config.link_bytes_per_second = options.linkBytesPerSecond;
    config.etcd = etcd;
    if (options.plainLanes) config.lane_security = agents::kPlainLanes;
    config.agent_keys = host.folder + "/agent.key";
    config.allowed_folder = host.folder + "/allowed";
    config.log_file = host.folder + "/agent.log";
    if (i == 0) {
      profile.registrar_endpoint = config.endpoint;
      profile.events_endpoint = config.events;
      profile.server_key = keys.public_key;
    }
    config.registrar_key = profile.server_key;
    const std::string configFile = (staging / "agent.json").string();
    TESSERA_RETURN_IF_ERROR(agents::SaveAgentConfig(config, configFile));
    TESSERA_TRY(files[i]["agent.json"], engine::ReadWholeFile(configFile));
  }
  fs::remove_all(staging, failure);
  for (const auto& entry : entriesOf(allowed, failure)) {
    TESSERA_TRY(const std::string text, engine::ReadWholeFile(entry.path().string()));
    for (HostFiles& each : files) each["allowed/" + entry.path().filename().string()] = text;
  }
  if (failure)
    return Unavailable(fmt::format("cannot list {}: {}", allowed.string(), failure.message()));
  return std::pair{std::move(profile), std::move(files)};
}

Status saveHosts(const HostClusterOptions& options, const std::vector<HostNode>& hosts) {
  nlohmann::json list = nlohmann::json::array();
  for (const HostNode& host : hosts)
    list.push_back({{"host", host.spec.target},
                    {"node", host.node},
                    {"folder", host.folder},
                    {"programs", host.programs}});
  const nlohmann::json document = {{"ssh", options.ssh.command()}, {"hosts", std::move(list)}};
  return engine::WriteWholeFile(hostsFile(options.name).string(), document.dump() + '\n', 0600);
}

struct SavedHosts {
  Ssh ssh;
  std::vector<HostNode> hosts;
};

/// \error kInvalidArgument naming the file
Result<SavedHosts> savedHosts(const std::string& file) {
  TESSERA_TRY(const std::string text, engine::ReadWholeFile(file));
  const auto document = nlohmann::json::parse(text, nullptr, false);
  Error bad = InvalidArgument(fmt::format("{} is not a list of hosts", file));
  if (!document.is_object() || !document.contains("ssh") || !document["ssh"].is_string() ||
      !document.contains("hosts") || !document["hosts"].is_array())
    return bad;
  SavedHosts saved{Ssh(document["ssh"].get<std::string>()), {}};
  for (const auto& entry : document["hosts"]) {
    if (!entry.is_object() || !entry.contains("host") || !entry["host"].is_string() ||
        !entry.contains("folder") || !entry["folder"].is_string() || !entry.contains("node") ||
        !entry["node"].is_number_integer())
      return bad;
    HostNode& host = saved.hosts.emplace_back();
    host.spec.target = entry["host"].get<std::string>();
    host.folder = entry["folder"].get<std::string>();
    host.node = entry["node"].get<int>();
    if (const auto programs = entry.find("programs");
        programs != entry.end() && programs->is_string())
      host.programs = programs->get<std::string>();
  }
  return saved;
}

/// \error kUnavailable naming host and remedy
Status startOn(const Ssh& ssh, const HostNode& host, const HostFiles& files) {
  std::vector<int> ports;
  for (int i = 0; i < kPortsPerHost; ++i) ports.push_back(host.port + i);
  std::string script = assigned({{"programs", host.programs},
                                 {"folder", host.folder},
                                 {"ports", fmt::format("{}", fmt::join(ports, " "))}}) +
                       std::string(kHostFunctions) + "files() {\n";
  for (const auto& [path, text] : files)
    script += fmt::format("printf %s {} >\"$folder/{}\" || return 1\n", shellQuoted(text), path);
  script += "}\n" + std::string(kStartScript);
  TESSERA_TRY(const HostAnswers answers, ssh.run(host.spec.target, script, kStartPatience));
  if (const auto port = answerOf(answers, "taken"); !port.empty())
    return Unavailable(fmt::format(
        "host '{}': another program listens on port {}; `--port` chooses others than {} to {}",
        host.spec.target, port, host.port, host.port + kPortsPerHost - 1));
  if (const auto problem = answerOf(answers, "problem"); !problem.empty())
    return Unavailable(fmt::format("host '{}': {}", host.spec.target, problem));
  if (const auto found = answers.find("ended"); found != answers.end())
    return Unavailable(fmt::format("host '{}': the agent ended; it wrote last: {}",
                                   host.spec.target, found->second));
  return OkStatus();
}

/// \return whether an agent was running
Result<bool> endOn(const Ssh& ssh, const HostNode& host, int grace, bool removes) {
  const std::string script = assigned({{"folder", host.folder},
                                       {"grace", std::to_string(grace)},
                                       {"remove", removes ? "yes" : ""}}) +
                             std::string(kHostFunctions) + std::string(kEndScript);
  TESSERA_TRY(const HostAnswers answers, ssh.run(host.spec.target, script, kEndPatience));
  return answers.contains("ended");
}

Error interrupted() { return Cancelled("stopped by Ctrl-C; the agents have been ended"); }

/// Waits until the registrar reports all nodes as alive.
Status waitForNodes(const HostClusterOptions& options, const agents::Profile& profile,
                    const std::vector<HostNode>& hosts) {
  TESSERA_TRY(auto client, agents::ClusterClient::OpenForCommands(profile));
  Session session{profile, std::move(client)};
  const HostNode* missing = &hosts[0];
  bool hasAnswered = false;
  for (const auto deadline = Steady::now() + kNodesPatience; Steady::now() < deadline;) {
    if (numInterrupts() > 0) return interrupted();
    if (const auto snapshot = session.snapshot(seconds(2))) {
      hasAnswered = true;
      const auto isAliveThere = [&](const HostNode& host) {
        const auto node = std::ranges::find(snapshot->nodes, host.node, &engine::NodeStatus::node);
        return node != snapshot->nodes.end() && node->state == engine::NodeState::kAlive &&
               std::ssize(node->devices) == host.spec.devices;
      };
      const auto found = std::ranges::find_if_not(hosts, isAliveThere);
      if (found == hosts.end()) return OkStatus();
      missing = &*found;
      options.working(fmt::format("waiting for n{} on {}", missing->node, missing->spec.target));
    } else if (snapshot.error().code != ErrorCode::kTimeout &&
               snapshot.error().code != ErrorCode::kUnavailable) {
      return snapshot.error();
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  if (!hasAnswered)
    return Unavailable(
        fmt::format("host '{}': nothing answers this machine at {} within {} s; open its ports {} "
                    "and {} to this machine",
                    hosts[0].spec.target, hosts[0].place(), kNodesPatience.count(), hosts[0].port,
                    hosts[0].port + 1));
  const std::string script = assigned({{"folder", missing->folder}}) + std::string(kHostFunctions) +
                             std::string(kLogScript);
  const auto answers = options.ssh.run(missing->spec.target, script, kProbePatience);
  const std::string line = answers ? std::string(answerOf(*answers, "log")) : "";
  return Unavailable(fmt::format(
      "host '{}': its node n{} is not alive within {} s; ports {} to {} have to be open between "
      "the hosts{}",
      missing->spec.target, missing->node, kNodesPatience.count(), missing->port,
      missing->port + kPortsPerHost - 1, line.empty() ? "" : "; it wrote last: " + line));
}

/// Starts the agents and saves the profile.
Result<agents::Profile> startAgents(const HostClusterOptions& options,
                                    const std::vector<HostNode>& hosts, const fs::path& folder) {
  TESSERA_TRY(const auto made, makeFiles(options, hosts, folder));
  const agents::Profile& profile = made.first;
  const std::vector<HostFiles>& files = made.second;
  TESSERA_RETURN_IF_ERROR(saveHosts(options, hosts));
  options.working(fmt::format("starting {}", Counted(std::ssize(hosts), "agent")));
  const auto outcomes = onEach(hosts, [&](const HostNode& host) {
    return startOn(options.ssh, host, files[static_cast<std::size_t>(host.node)]);
  });
  if (numInterrupts() > 0) return interrupted();
  for (const Status& outcome : outcomes) TESSERA_RETURN_IF_ERROR(outcome);
  for (const HostNode& host : hosts)
    options.started({host.node, host.spec.target, host.place(), host.spec.devices});
  TESSERA_RETURN_IF_ERROR(waitForNodes(options, profile, hosts));
  TESSERA_RETURN_IF_ERROR(agents::SaveProfile(profile));
  return profile;
}

}  // namespace

Result<std::vector<HostSpec>> parseHosts(const std::string& text, int devices) {
  std::vector<HostSpec> hosts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string entry = text.substr(begin, end - begin);
    begin = end + 1;
    const std::string place = entry.substr(0, entry.find('/'));
    HostSpec host{place.substr(0, place.find(':')), devices};
    const std::string& name = host.target;
    // A word that begins with a dash would be an option of ssh.
    if (name.empty() || name.front() == '-' || name.find_first_of(" \t\n/") != std::string::npos)
      return InvalidArgument(fmt::format("'{}' is not HOST or USER@HOST", entry));
    if (place.size() < entry.size()) {
      host.rack = entry.substr(place.size() + 1);
      TESSERA_RETURN_IF_ERROR(checkName("rack", host.rack));
    }
    if (name.size() < place.size()) {
      const char* const last = place.data() + place.size();
      const auto [stop, failure] =
          std::from_chars(place.data() + name.size() + 1, last, host.devices);
      if (failure != std::errc() || stop != last || host.devices < 1 || host.devices > 64)
        return InvalidArgument(
            fmt::format("'{}': behind the colon is a number of GPUs from 1 to 64", entry));
    }
    hosts.push_back(std::move(host));
  }
  if (hosts.size() > kMostHosts)
    return InvalidArgument(fmt::format("{} hosts; the limit is {}", hosts.size(), kMostHosts));
  return hosts;
}

Result<agents::Profile> startHostCluster(const HostClusterOptions& options) {
  const fs::path folder = engine::AbsolutePath(localClusterFolder(options.name));
  TESSERA_TRY(const ClusterLock lock,
              ClusterLock::take(folder.parent_path().string(), options.name, "up"));
  if (isRunning(folder.string()))
    return AlreadyExists(
        fmt::format("cluster '{}' is running; `tesseractl down --cluster {}` stops it",
                    options.name, options.name));
  countInterrupts();
  options.working(fmt::format("asking {}", Counted(std::ssize(options.hosts), "host")));
  std::vector<int> nodes(options.hosts.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) nodes[i] = static_cast<int>(i);
  const auto probed = onEach(nodes, [&](int node) { return probe(options, node); });
  if (numInterrupts() > 0) return interrupted();
  std::vector<HostNode> hosts;
  for (const auto& outcome : probed) {
    TESSERA_TRY(HostNode host, outcome);
    hosts.push_back(std::move(host));
  }
  TESSERA_RETURN_IF_ERROR(assignPorts(hosts, options.port));
  const auto past = engine::ReadWholeFile(stoppedHostsFile(options.name).string());
  // Where hosts share this home, their folders are here.
  TESSERA_RETURN_IF_ERROR(clearClusterFolder(folder.string(), false));
  auto profile = startAgents(options, hosts, folder);
  if (!profile) {
    options.working("ending what was started");
    const auto ended =
        onEach(hosts, [&](const HostNode& host) { return endOn(options.ssh, host, 0, true); });
    const auto left = std::ranges::find_if(ended, [](const auto& one) { return !one; });
    if (left == ended.end()) {
      std::error_code ignored;
      static_cast<void>(clearClusterFolder(folder.string(), false));
      if (past) {
        static_cast<void>(
            engine::WriteWholeFile(stoppedHostsFile(options.name).string(), *past, 0600));
      }
      fs::remove(folder, ignored);  // unless something is kept in it
    } else {
      const HostNode& host = hosts[static_cast<std::size_t>(left - ended.begin())];
      profile.error().message += fmt::format(
          "; host '{}' is not reached now: `tesseractl down --cluster {}` ends its agent",
          host.spec.target, options.name);
    }
  }
  return profile;
}

bool isHostCluster(const std::string& name) {
  std::error_code ignored;
  return fs::exists(hostsFile(name), ignored);
}

Result<bool> stopHostCluster(const std::string& name) {
  TESSERA_TRY(const ClusterLock lock,
              ClusterLock::take(hostsFile(name).parent_path().parent_path().string(), name, "down"));
  TESSERA_TRY(const SavedHosts saved, savedHosts(hostsFile(name).string()));
  int grace = 0;
  if (const auto profile = agents::LoadProfile(profilePath(name)); profile) {
    if (const auto client = agents::ClusterClient::OpenForCommands(*profile); client) {
      wire::Request request;
      request.mutable_shutdown();
      if ((*client)->CallAndWait(std::move(request), seconds(3))) grace = kShutdownGrace;
    }
  }
  const auto ended = onEach(
      saved.hosts, [&](const HostNode& host) { return endOn(saved.ssh, host, grace, false); });
  for (const auto& outcome : ended)
    if (!outcome)
      return Unavailable(fmt::format("{}; `down` again ends its agent, or remove {} to forget it",
                                     outcome.error().message, hostsFile(name).string()));
  std::error_code ignored;
  fs::rename(hostsFile(name), stoppedHostsFile(name), ignored);
  fs::remove(hostsFile(name), ignored);  // if it could not be renamed
  fs::remove(profilePath(name), ignored);
  return grace > 0 || std::ranges::any_of(ended, [](const auto& one) { return *one; });
}

std::optional<std::string> historyOnHost(const std::string& name) {
  const auto saved = savedHosts(stoppedHostsFile(name).string());
  if (!saved) return std::nullopt;
  const auto first = std::ranges::find(saved->hosts, 0, &HostNode::node);
  if (first == saved->hosts.end()) return std::nullopt;
  std::error_code ignored;
  const bool isShared = fs::path(first->folder).parent_path() == hostsFile(name).parent_path() &&
                        fs::exists(fs::path(first->folder) / "history.db", ignored);
  if (isShared) return std::nullopt;
  const std::string place =
      fmt::format("its history is on host '{}', in {}", first->spec.target, first->folder);
  const fs::path clusters = fs::path(first->folder).parent_path().parent_path();
  if (clusters.filename() != "clusters" || first->programs.empty())  // of `up --folder`
    return fmt::format("{}: `tessera --history {}/history.db` shows it there", place,
                       first->folder);
  return fmt::format(
      "{}: `{} {} TESSERA_HOME={} {}/tesseractl history --cluster {}` reads it there", place,
      saved->ssh.command(), first->spec.target, clusters.parent_path().string(), first->programs,
      name);
}

}  // namespace tessera::app
