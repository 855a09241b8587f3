// SPDX-License-Identifier: GPL-3.0-or-later
/// \file
/// `profile list` and `profile remove`: the clusters that are known here.

#include <fmt/format.h>

#include <filesystem>

#include "agents/net/socket.h"
#include "app/commands/command.h"
#include "app/commands/endpoint.h"
#include "app/commands/json.h"
#include "app/commands/local_cluster.h"
#include "app/commands/units.h"
#include "engine/files/absolute_path.h"

namespace tessera::app {
namespace {

std::string stateOf(const agents::Profile& profile) {
  if (profile.directory.empty()) return "remote";
  return isRunning(profile.directory) ? "running" : "stopped";
}

int runList(const Invocation& call) {
  std::vector<std::vector<std::string>> rows = {{"profile", "state", "registrar"}};
  Json json = Json::array();
  int code = kDone;
  for (const std::string& name : profileNames()) {
    const auto profile = agents::LoadProfile(profilePath(name));
    if (!profile) {
      code = failed(profile.error());
      continue;
    }
    const std::string state = stateOf(*profile);
    rows.push_back({profile->name, state, profile->registrar_endpoint});
    json.push_back({{"name", profile->name},
                    {"state", state},
                    {"registrar", profile->registrar_endpoint},
                    {"directory", profile->directory}});
  }
  if (call.json)
    printLine(json);
  else
    fmt::print("{}", formatTable(rows));
  return code;
}

int runRemove(const Invocation& call) {
  const std::string name = call.arguments.word(0);
  if (const auto good = checkName("profile", name); !good) return wrongUsage(good.error());
  const auto profile = agents::LoadProfile(profilePath(name));
  if (!profile && profile.error().code == ErrorCode::kNotFound)
    return failed(NotFound(fmt::format("no profile is named '{}'", name)));
  if (profile && stateOf(*profile) == "running")
    return failed(FailedPrecondition(
        fmt::format("cluster '{}' is running; `tesseractl down --name {}` stops it", name, name)));
  std::error_code failure;
  std::filesystem::remove(profilePath(name), failure);
  if (failure)
    return failed(
        Unavailable(fmt::format("cannot remove {}: {}", profilePath(name), failure.message())));
  if (call.json)
    printLine({{"removed", name}});
  else
    fmt::print("profile '{}' is removed\n", name);
  return kDone;
}

}  // namespace

namespace {

Result<agents::Profile> readProfile(const Arguments& arguments) {
  if (const auto file = arguments.value("from")) {
    TESSERA_TRY(auto profile, agents::LoadProfile(engine::AbsolutePath(*file)));
    if (!arguments.word(0).empty()) profile.name = arguments.word(0);
    return profile;
  }
  agents::Profile profile;
  profile.name = arguments.word(0);
  const auto need = [&](const char* option) -> Result<std::string> {
    const auto value = arguments.value(option);
    if (!value) return InvalidArgument(fmt::format("profile add needs --{}, or --from", option));
    return *value;
  };
  TESSERA_TRY(const std::string registrar, need("registrar"));
  TESSERA_TRY(const Endpoint endpoint,
              parseEndpoint(registrar, kDefaultPort).Context("--registrar"));
  profile.registrar_endpoint = endpoint.text();
  Endpoint events{endpoint.host, endpoint.port + 1};
  if (const auto given = arguments.value("events")) {
    TESSERA_TRY(events, parseEndpoint(*given, events.port).Context("--events"));
  }
  profile.events_endpoint = events.text();
  TESSERA_TRY(const std::string serverKey, need("server-key"));
  TESSERA_TRY(profile.server_key, readPublicKey(serverKey).Context("--server-key"));
  TESSERA_TRY(const std::string key, need("key"));
  profile.key_file = engine::AbsolutePath(key);
  return profile;
}

int runAdd(const Invocation& call) {
  const std::string name = call.arguments.word(0);
  if (const auto good = checkName("profile", name); !good) return wrongUsage(good.error());
  const auto profile = readProfile(call.arguments);
  if (!profile) return wrongUsage(profile.error());
  if (const auto keys = agents::LoadKeys(profile->key_file); !keys) return failed(keys.error());
  std::error_code ignored;
  if (std::filesystem::exists(profilePath(name), ignored) && !call.arguments.has("force"))
    return failed(AlreadyExists(fmt::format("profile '{}' exists; --force replaces it", name)));
  if (const auto saved = agents::SaveProfile(*profile); !saved) return failed(saved.error());
  if (call.json)
    printLine({{"name", name},
               {"profile", profilePath(name)},
               {"registrar", profile->registrar_endpoint},
               {"events", profile->events_endpoint}});
  else
    fmt::print("profile '{}' is saved; `tesseractl --cluster {} doctor` tries it\n", name, name);
  return kDone;
}

}  // namespace

Command profileAddCommand() {
  return {{"profile add",
           "names a cluster that runs on other machines",
           {{"NAME", "the cluster's name"}},
           {{"registrar", "HOST[:PORT]", fmt::format("node 0 (default port {})", kDefaultPort)},
            {"events", "HOST:PORT", "where it publishes (default: the registrar's port + 1)"},
            {"server-key", "KEY|FILE", "public key of node 0, or its .pub file"},
            {"key", "FILE", "your key pair, as `keys new` made it"},
            {"from", "FILE", "takes all this from a profile file"},
            {"force", "", "replaces a profile of that name"}},
           {}},
          runAdd};
}

Command profileListCommand() {
  return {{"profile list", "lists the clusters that are known here", {}, {}, {}}, runList};
}

Command profileRemoveCommand() {
  return {
      {"profile remove", "forgets a cluster that does not run here", {{"NAME", "profile"}}, {}, {}},
      runRemove};
}

}  // namespace tessera::app
