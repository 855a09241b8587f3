// SPDX-License-Identifier: Apache-2.0
// tessera-agent: the daemon of a node. Started with --config, it becomes the keeper, which starts
// the same program again as the agent.
#include <fmt/format.h>
#include <google/protobuf/message.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agents/decision/registrar_record.h"
#include "agents/decision/registrar_watch.h"
#include "agents/keeper/keeper.h"
#include "agents/net/local_address.h"
#include "agents/net/loop.h"
#include "agents/net/socket.h"
#include "agents/node/allow_list.h"
#include "agents/node/config.h"
#include "agents/node/log_file.h"
#include "agents/node/node_server.h"
#include "agents/registrar/registrar_server.h"
#include "agents/sim/simulator.h"
#include "engine/files/whole_file.h"

namespace tessera::agents {
namespace {

// How often the size of the log and the allow-list are checked.
constexpr std::chrono::seconds kHousekeeping{2};
constexpr char kVersion[] = "tessera-agent " TESSERA_VERSION;
constexpr char kHelp[] =
    "usage: tessera-agent --config FILE\n"
    "\n"
    "Runs one node of a cluster: owns the memory of its devices (the keeper) and does the work on\n"
    "it (the agent, restarted whenever it dies). `tesseractl up` writes FILE and starts one\n"
    "tessera-agent per node.\n"
    "\n"
    "  --config FILE   JSON: node, endpoints, lanes, devices and capacities, keys, registrar\n"
    "  --help          this text\n"
    "  --version       the version\n";

int Fail(const std::string& message, int code) {
  std::fprintf(stderr, "tessera-agent: %s\n", message.c_str());
  return code;
}

// Where the registrar was last, as this node knows. The role can move only if its register is
// outside of the cluster.
std::string RecordFile(const AgentConfig& config) { return config.directory + "/registrar.json"; }

Result<RegistrarRecord> KnownRecord(const AgentConfig& config, const CurveKeys& keys) {
  RegistrarRecord first{1,
                        config.endpoint == config.registrar_endpoint ? config.node : 0,
                        config.registrar_endpoint,
                        {},
                        config.registrar_key.empty() ? keys.public_key : config.registrar_key};
  if (first.endpoint == config.endpoint) first.events = config.events;
  std::error_code ignored;
  if (config.etcd.endpoints.empty() || !std::filesystem::exists(RecordFile(config), ignored)) {
    return first;
  }
  TESSERA_TRY(const std::string text, engine::ReadWholeFile(RecordFile(config)));
  // The first line names the cluster: the node may have been set up for another one since.
  const std::string line = config.etcd.prefix + '\n';
  if (!text.starts_with(line)) return first;
  return ParseRegistrarRecord(text.substr(line.size())).Context(RecordFile(config));
}

// Each connection of a peer needs one. Ranks are the keeper's children and keep their limit.
void RaiseDescriptorLimit() {
  constexpr rlim_t kEnough = 65536;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= kEnough) return;
  limit.rlim_cur = std::min(limit.rlim_max, kEnough);
  static_cast<void>(::setrlimit(RLIMIT_NOFILE, &limit));
}

/// SIGTERM stops a loop through this descriptor. It is blocked before any thread starts.
int BlockEndingSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  return signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
}

/// Writes stdout and stderr into the log file of the configuration, if it names one.
Result<std::shared_ptr<LogFile>> RedirectLog(const AgentConfig& config, Loop& loop) {
  if (config.log_file.empty()) return std::shared_ptr<LogFile>();
  TESSERA_TRY(LogFile opened, LogFile::Redirect(config.log_file));
  auto log = std::make_shared<LogFile>(std::move(opened));
  loop.Every(kHousekeeping, [log] {
    if (const Status rotated = log->RotateIfFull(); !rotated) {
      std::fprintf(stderr, "tessera-agent: %s\n", rotated.error().ToString().c_str());
    }
  });
  return log;
}

/// Keeps the owners of keys in `net` as the folder of allowed keys has them. All outlive the loop.
class AllowedKeys {
 public:
  AllowedKeys(const AgentConfig& config, NetContext& net, Loop& loop) : allowed_(config) {
    net.SetOwners(allowed_.keys());
    Report();
    loop.Every(kHousekeeping, [this, &net] {
      const bool has_changed = allowed_.Refresh();
      Report();
      if (!has_changed) return;
      net.SetOwners(allowed_.keys());
      std::fprintf(stderr, "tessera-agent: allow-list has %zu keys\n", allowed_.keys().size());
    });
  }

 private:
  void Report() {
    if (allowed_.problems() == reported_) return;
    reported_ = allowed_.problems();
    for (const std::string& problem : reported_) {
      std::fprintf(stderr, "tessera-agent: allow-list: %s\n", problem.c_str());
    }
  }

  AllowList allowed_;
  std::vector<std::string> reported_;
};

void PrepareProcess() {
  RaiseDescriptorLimit();
#if GOOGLE_PROTOBUF_VERSION < 4022000
  // It would print a line for each bad text that a peer sends.
  google::protobuf::SetLogHandler(nullptr);
#endif
}

/// Resolves host names in what this node binds, because ranks and other nodes get the addresses,
/// and the registrar's if it has only IPv6 addresses.
Status ResolveOwn(AgentConfig& config) {
  const bool is_registrar = config.registrar_endpoint == config.endpoint;
  std::vector<std::string*> own = {&config.endpoint, &config.events};
  for (std::string& lane : config.lanes) own.push_back(&lane);
  for (std::string* const endpoint : own) {
    TESSERA_TRY(*endpoint, NumericEndpoint(*endpoint));
  }
  config.registrar_endpoint =
      is_registrar ? config.endpoint : ConnectableEndpoint(config.registrar_endpoint);
  return OkStatus();
}

/// Tells clients why this agent cannot run, until its journal is whole again: then the keeper
/// starts the next agent.
int RefuseUntilRepaired(Loop& loop, NetContext& net, const AgentConfig& config,
                        const CurveKeys& keys, const Error& why) {
  const auto server =
      RegistrarServer::StartRefusing(loop, net, config, keys, Unavailable(why.message));
  if (!server) return Fail(server.error().ToString(), 1);
  loop.Every(kHousekeeping, [&loop, &config] {
    // An agent would create a missing file, without the promises of this node.
    std::error_code ignored;
    const bool exists = std::filesystem::exists(NodeServer::JournalFile(config), ignored);
    if (exists && NodeServer::CheckJournal(config)) loop.Stop();
  });
  loop.Run();
  return 0;
}

int RunAgent(AgentConfig config) {
  PrepareProcess();
  if (const Status resolved = ResolveOwn(config); !resolved) {
    return Fail("the address of this node: " + resolved.error().ToString(), 1);
  }
  const auto keys = LoadKeys(config.agent_keys);
  if (!keys) return Fail(keys.error().ToString(), 1);
  const auto record = KnownRecord(config, *keys);
  if (!record) return Fail(record.error().ToString(), 1);
  // The address of this node may have changed since.
  config.registrar_endpoint = record->node == config.node ? config.endpoint : record->endpoint;
  config.registrar_key = record->key;

  const int signal_fd = BlockEndingSignals();
  Loop loop;
  const auto log = RedirectLog(config, loop);
  if (!log) return Fail(log.error().ToString(), 1);
  NetContext net(static_cast<int>(std::max<std::size_t>(1, config.lanes.size())));
  AllowedKeys allowed(config, net, loop);
  std::unique_ptr<RegistrarServer> registrar;
  loop.WatchFd(signal_fd, 1 /* POLLIN */, [&loop](short) { loop.Stop(); });
  const bool is_registrar = config.registrar_endpoint == config.endpoint;
  const Status journal = NodeServer::CheckJournal(config);
  if (is_registrar && !journal && journal.error().code == ErrorCode::kDataLoss) {
    std::fprintf(stderr, "tessera-agent: %s\n", journal.error().ToString().c_str());
    return RefuseUntilRepaired(loop, net, config, *keys, journal.error());
  }
  if (is_registrar) {
    auto started = RegistrarServer::Start(loop, net, config, *keys, record->generation);
    if (!started) return Fail(started.error().ToString(), 1);
    registrar = std::move(*started);
  }
  auto node = NodeServer::Start(loop, net, config, *keys);
  if (!node) return 1;  // it has said why
  std::optional<RegistrarWatch> watch;
  if (!config.etcd.endpoints.empty()) {
    const auto moved = [&config](const RegistrarRecord& now) {
      const Status kept = engine::WriteWholeFile(
          RecordFile(config), config.etcd.prefix + '\n' + ToText(now) + '\n', 0600);
      std::fprintf(stderr, "the registrar is n%d now%s%s\n", now.node,
                   kept ? "; the agent restarts" : ": ",
                   kept ? "" : kept.error().ToString().c_str());
      // The keeper starts the next agent, which knows it from its beginning. Ranks train on.
      if (kept) std::_Exit(1);
    };
    watch.emplace(loop, config.etcd, *record, registrar != nullptr, moved,
                  [](const std::string& line) { std::fprintf(stderr, "%s\n", line.c_str()); });
  }
  loop.Run();
  return 0;
}

// All nodes and the registrar in this process: there is no keeper, and nothing outlives it.
int RunSimulation(const AgentConfig& config) {
  PrepareProcess();
  const auto keys = LoadKeys(config.agent_keys);
  if (!keys) return Fail(keys.error().ToString(), 1);
  const int signal_fd = BlockEndingSignals();
  Loop loop;
  const auto log = RedirectLog(config, loop);
  if (!log) return Fail(log.error().ToString(), 1);
  NetContext net(1);
  AllowedKeys allowed(config, net, loop);
  loop.WatchFd(signal_fd, 1 /* POLLIN */, [&loop](short) { loop.Stop(); });
  const auto simulator = sim::Simulator::Start(loop, net, config, *keys);
  if (!simulator) return Fail(simulator.error().ToString(), 1);
  loop.Run();
  return 0;
}

int Run(int argc, char** argv) {
  std::string config_path;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--help") return std::fputs(kHelp, stdout) < 0;
    if (argument == "--version") return std::puts(kVersion) < 0;
    if (argument == "--config" && i + 1 < argc) {
      config_path = argv[++i];
      continue;
    }
    return Fail(fmt::format("unknown argument '{}'; see --help", argument), 2);
  }
  if (config_path.empty()) return Fail("--config FILE is missing; see --help", 2);
  const auto config = LoadAgentConfig(config_path);
  if (!config) return Fail(config.error().ToString(), 1);
  if (std::getenv("TESSERA_KEEPER_FD")) return RunAgent(*config);
  if (config->simulation) return RunSimulation(*config);

  std::error_code error;
  std::filesystem::create_directories(config->directory, error);
  if (error)
    return Fail(fmt::format("cannot make '{}': {}", config->directory, error.message()), 1);
  KeeperOptions options;
  options.node = config->node;
  options.devices = config->devices;
  options.device_bytes = config->device_bytes;
  if (!config->cuda_devices.empty()) options.memory_kind = engine::MemoryKind::kCuda;
  options.directory = config->directory;
  options.name_prefix = "tessera-" + config->cluster + "-";
  options.agent_argv = {std::filesystem::read_symlink("/proc/self/exe", error).string(), "--config",
                        config_path};
  return RunKeeper(options);
}

}  // namespace
}  // namespace tessera::agents

int main(int argc, char** argv) { return tessera::agents::Run(argc, argv); }
