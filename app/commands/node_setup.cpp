// SPDX-License-Identifier: GPL-3.0-or-later
/// \file
/// `node setup`: writes the configuration of this machine's agent, for a cluster of real machines.

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <netdb.h>
#include <pwd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <system_error>

#include "agents/client/cluster.h"
#include "agents/net/local_address.h"
#include "agents/net/socket.h"
#include "agents/node/config.h"
#include "app/commands/command.h"
#include "app/commands/endpoint.h"
#include "app/commands/etcd_options.h"
#include "app/commands/json.h"
#include "app/commands/units.h"
#include "engine/data/is_url.h"
#include "engine/files/absolute_path.h"
#include "engine/files/descriptor.h"

namespace tessera::app {
namespace {

namespace fs = std::filesystem;

/// A node uses its base port for commands, the next one for events, and one more per lane.
constexpr int kLanes = 4;

/// The user of the packaged service (packaging/systemd/tessera.conf).
constexpr const char* kServiceUser = "tessera";

std::string hostName() {
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 ? name : "localhost";
}

struct Setup {
  agents::AgentConfig config;
  std::string file;
  std::string publicKey;
  std::string address;  // the endpoint, with the numeric address that it has now
  bool isRegistrar = false;
};

/// Why other nodes may not reach this node at `endpoint`, which is numeric; empty if they should.
std::string concernAbout(const std::string& endpoint) {
  std::string host = endpoint.substr(0, endpoint.rfind(':')).substr(std::strlen("tcp://"));
  const bool isLoopback = host.starts_with("127.") || host == "[::1]";
  if (isLoopback) return fmt::format("{} is reached from this machine only", host);
  if (host.starts_with('[')) host = host.substr(1, host.size() - 2);
  addrinfo hints{};
  hints.ai_flags = AI_NUMERICHOST;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (::getaddrinfo(host.c_str(), nullptr, &hints, &found) != 0) return {};  // an interface
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> own(found, &::freeaddrinfo);
  const engine::Descriptor socket(::socket(own->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket.ok() || ::bind(socket.get(), own->ai_addr, own->ai_addrlen) == 0 ||
      errno != EADDRNOTAVAIL)
    return {};
  return fmt::format("{} is no address of this machine: the agent does not start here", host);
}

/// The absolute folders and URLs of an option that repeats.
std::vector<std::string> foldersOf(const Arguments& arguments, std::string_view option) {
  std::vector<std::string> out;
  for (const std::string& given : arguments.values(option))
    out.push_back(engine::IsUrl(given) ? given : engine::AbsolutePath(given));
  return out;
}

Result<Setup> readSetup(const Arguments& arguments) {
  Setup setup;
  agents::AgentConfig& config = setup.config;
  const auto need = [&](const char* option) -> Result<std::string> {
    const auto value = arguments.value(option);
    if (!value) return InvalidArgument(fmt::format("node setup needs --{}", option));
    return *value;
  };
  TESSERA_TRY(config.cluster, need("cluster"));
  TESSERA_RETURN_IF_ERROR(checkName("cluster name", config.cluster));
  TESSERA_TRY(const auto node, arguments.integer("node", 0, 0, 4095));
  config.node = static_cast<std::int32_t>(node);
  TESSERA_TRY(const std::string address, need("address"));
  TESSERA_TRY(const Endpoint own, parseEndpoint(address, kDefaultPort).Context("--address"));
  TESSERA_TRY(setup.address, agents::NumericEndpoint(own.text()).Context("--address"));
  const auto endpoint = [&own](int offset) {
    return fmt::format("tcp://{}:{}", own.host, own.port + offset);
  };
  config.endpoint = endpoint(0);
  config.events = endpoint(1);
  for (int lane = 0; lane < kLanes; ++lane) config.lanes.push_back(endpoint(2 + lane));
  setup.isRegistrar = config.node == 0;
  if (setup.isRegistrar) {
    if (arguments.has("registrar"))
      return InvalidArgument("--registrar is for the other nodes: node 0 is the registrar");
    config.registrar_endpoint = config.endpoint;
  } else {
    TESSERA_TRY(const std::string registrar, need("registrar"));
    TESSERA_TRY(const Endpoint there,
                parseEndpoint(registrar, kDefaultPort).Context("--registrar"));
    config.registrar_endpoint = there.text();
    TESSERA_TRY(const std::string key, need("registrar-key"));
    TESSERA_TRY(config.registrar_key, readPublicKey(key).Context("--registrar-key"));
  }
  TESSERA_TRY(const auto devices, arguments.integer("gpus", config.devices, 1, 1024));
  config.devices = static_cast<std::int32_t>(devices);
  if (const auto text = arguments.value("gpu-memory")) {
    TESSERA_TRY(config.device_bytes, parseGpuMemory(*text));
  }
  TESSERA_TRY(config.etcd, readEtcd(arguments, "/tessera/" + config.cluster));
  config.lane_security = arguments.valueOr("lanes", "curve");
  config.jobs.exec = arguments.has("exec");
  config.jobs.data = foldersOf(arguments, "data");
  config.jobs.checkpoints = foldersOf(arguments, "checkpoints");
  config.host = arguments.valueOr("host", hostName());
  if (const auto rack = arguments.value("rack")) {
    TESSERA_RETURN_IF_ERROR(checkName("rack", *rack).Context("--rack"));
    config.rack = *rack;
  }
  config.directory = engine::AbsolutePath(arguments.valueOr("directory", "/var/lib/tessera"));
  config.log_file = (fs::path(config.directory) / "agent.log").string();
  setup.file = engine::AbsolutePath(arguments.valueOr("output", "/etc/tessera/agent.json"));
  const fs::path folder = fs::path(setup.file).parent_path();
  config.agent_keys =
      engine::AbsolutePath(arguments.valueOr("key", (folder / "agent.key").string()));
  config.allowed_folder =
      engine::AbsolutePath(arguments.valueOr("allowed", (folder / "allowed").string()));
  return setup;
}

Status makeFolder(const fs::path& folder, fs::perms mode) {
  std::error_code failure;
  const bool made = fs::create_directories(folder, failure);
  if (!failure && made) fs::permissions(folder, mode, failure);
  if (failure)
    return Unavailable(fmt::format("cannot make {}: {}", folder.string(), failure.message()));
  return OkStatus();
}

/// Makes the service's user the owner of a path that only its owner may read. Does nothing if this
/// process is not root or the package's user does not exist: then the agent runs as the user who
/// called.
Status giveToService(const std::string& path) {
  const passwd* user = ::geteuid() == 0 ? ::getpwnam(kServiceUser) : nullptr;  // one thread
  if (user == nullptr || ::chown(path.c_str(), user->pw_uid, user->pw_gid) == 0) return OkStatus();
  return Unavailable(fmt::format("cannot give {} to user {}: {}", path, kServiceUser,
                                 std::generic_category().message(errno)));
}

/// Writes keys (existing ones are kept) and folders, and the configuration last.
Status write(Setup& setup, bool force) {
  std::error_code ignored;
  if (fs::exists(setup.file, ignored) && !force)
    return AlreadyExists(fmt::format("{} exists; --force replaces it", setup.file));
  constexpr auto kShared = fs::perms::owner_all | fs::perms::group_read | fs::perms::group_exec |
                           fs::perms::others_read | fs::perms::others_exec;
  const agents::AgentConfig& config = setup.config;
  TESSERA_RETURN_IF_ERROR(makeFolder(fs::path(setup.file).parent_path(), kShared));
  TESSERA_RETURN_IF_ERROR(makeFolder(fs::path(config.agent_keys).parent_path(), kShared));
  TESSERA_RETURN_IF_ERROR(makeFolder(config.allowed_folder, kShared));
  TESSERA_RETURN_IF_ERROR(makeFolder(config.directory, fs::perms::owner_all));
  if (!fs::exists(config.agent_keys, ignored))
    TESSERA_RETURN_IF_ERROR(agents::SaveKeys(agents::NewCurveKeys(), config.agent_keys));
  TESSERA_TRY(const auto keys, agents::LoadKeys(config.agent_keys));
  TESSERA_RETURN_IF_ERROR(giveToService(config.agent_keys));
  TESSERA_RETURN_IF_ERROR(giveToService(config.directory));
  setup.publicKey = keys.public_key;
  // A node also connects to itself. The other nodes need a copy of this file.
  TESSERA_RETURN_IF_ERROR(agents::SavePublicKey(
      keys.public_key,
      (fs::path(config.allowed_folder) / fmt::format("n{}.pub", config.node)).string(),
      agents::RoleText({{}, agents::Role::kNode, config.node})));
  return agents::SaveAgentConfig(config, setup.file);
}

int runSetup(const Invocation& call) {
  TESSERA_OR_USAGE(auto setup, readSetup(call.arguments));
  if (const auto written = write(setup, call.arguments.has("force")); !written)
    return failed(written.error());
  const agents::AgentConfig& config = setup.config;
  if (call.json) {
    printLine({{"config", setup.file},
               {"node", config.node},
               {"endpoint", config.endpoint},
               {"public", setup.publicKey},
               {"exec", config.jobs.exec},
               {"data", *config.jobs.data},
               {"checkpoints", *config.jobs.checkpoints},
               {"allowed", config.allowed_folder}});
    return kDone;
  }
  fmt::print("config    {}\n", setup.file);
  fmt::print("node      n{} of '{}'{}\n", config.node, config.cluster,
             setup.isRegistrar ? ", its registrar" : "");
  fmt::print("listens   {} to port {}\n", config.endpoint,
             parseEndpoint(config.lanes.back(), 0)->port);
  if (const std::string concern = concernAbout(setup.address); !concern.empty())
    fmt::print("note      {}\n", concern);
  fmt::print("public    {}\n", setup.publicKey);
  fmt::print("allowed   {}\n", config.allowed_folder);
  if (!config.etcd.endpoints.empty())
    fmt::print("decides   in etcd, {}, keys below {}\n", fmt::join(config.etcd.endpoints, ", "),
               config.etcd.prefix);
  fmt::print("jobs      {}\n\n", ToText(config.jobs));
  fmt::print(
      "copy      {}/n{}.pub into the allowed folder of every other node,\n"
      "          theirs and every operator's .pub into this one\n",
      config.allowed_folder, config.node);
  fmt::print("start     tessera-agent --config {}   (or: systemctl enable --now tessera-agent)\n",
             setup.file);
  return kDone;
}

}  // namespace

Command nodeSetupCommand() {
  Command command{
      {.verb = "node setup",
       .summary = "Write the configuration of this machine's agent",
       .options =
           {{.name = "cluster",
             .value = "NAME",
             .help = "cluster that the node belongs to; required"},
            {.name = "node",
             .value = "N",
             .help = "number of the node; node 0 is the registrar",
             .fallback = "0"},
            {.name = "address",
             .value = "HOST[:PORT]",
             .help = fmt::format("address of this machine for the other nodes: IPv4, [IPv6], or a "
                                 "name, which is resolved when the agent starts; the agent uses "
                                 "{} ports from PORT on; required",
                                 2 + kLanes),
             .fallback = fmt::format("port {}", kDefaultPort)},
            {.name = "registrar",
             .value = "HOST[:PORT]",
             .help = "address of node 0; required on the other nodes"},
            {.name = "registrar-key",
             .value = "KEY|FILE",
             .help = "public key of node 0, or its .pub file; required on the other nodes"},
            {.name = "gpus", .value = "N", .help = "emulated GPUs of the node", .fallback = "4"},
            {.name = "gpu-memory",
             .value = "SIZE",
             .help = "memory per GPU, in binary units",
             .fallback = "512M"},
            {.name = "host",
             .value = "HOST",
             .help = "nodes with equal names of hosts share memory",
             .fallback = "the machine's host name"},
            {.name = "rack",
             .value = "NAME",
             .help = "the rack of the machine, such as r12; the panel can group nodes by it"},
            outputOption("file for the configuration", "/etc/tessera/agent.json"),
            {.name = "key",
             .value = "FILE",
             .help = "key pair of the agent; made if it is missing",
             .fallback = "agent.key beside the configuration"},
            {.name = "allowed",
             .value = "DIR",
             .help = "folder of the public keys that the agent accepts",
             .fallback = "allowed beside the configuration"},
            lanesOption(),
            {.name = "exec", .value = "", .help = "let operators run programs: `job start --exec`"},
            {.name = "data",
             .value = "DIR|URL",
             .help = "training data may lie below this folder or URL",
             .fallback = "nowhere: only text that is found on the machine",
             .repeats = true},
            {.name = "checkpoints",
             .value = "DIR|URL",
             .help =
                 "checkpoints may be written, read and removed below this folder, or read below "
                 "this URL",
             .fallback = "nowhere",
             .repeats = true},
            {.name = "directory",
             .value = "DIR",
             .help = "folder for the node's own state",
             .fallback = "/var/lib/tessera"},
            forceOption("replace an existing configuration; keys are kept")},
       .notes = {"The agent listens on these addresses only. Commands, events and bulk data are "
                 "encrypted (CurveZMQ), bulk data only without `--lanes plain`. The training job's "
                 "own collectives between hosts are not: "
                 "use a network that you trust for them."},
       .examples = {"tesseractl node setup --cluster lab --address 10.0.0.1",
                    "tesseractl node setup --cluster lab --node 1 --address 10.0.0.2 --registrar "
                    "10.0.0.1 --registrar-key n0.pub"}},
      runSetup};
  const auto etcd = etcdOptions();
  auto& options = command.syntax.options;
  options.insert(options.end() - 1, etcd.begin(), etcd.end());  // before --force
  return command;
}

}  // namespace tessera::app
