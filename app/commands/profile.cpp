// SPDX-License-Identifier: GPL-3.0-or-later
/// \file
/// `profile add`, `list`, `use` and `remove`: the clusters that are known on this machine.

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "agents/net/socket.h"
#include "app/commands/cluster_choice.h"
#include "app/commands/command.h"
#include "app/commands/endpoint.h"
#include "app/commands/json.h"
#include "app/commands/local_cluster.h"
#include "app/commands/suggest.h"
#include "app/commands/units.h"
#include "engine/files/absolute_path.h"

namespace tessera::app {
namespace {

std::string stateOf(const agents::Profile& profile) {
  if (profile.directory.empty()) return "remote";
  return isRunning(profile.directory) ? "running" : "stopped";
}

int runProfileList(const Invocation& call) {
  const std::vector<std::string> names = profileNames();
  if (call.arguments.has("names")) return printNames(names);
  std::vector<std::vector<std::string>> rows = {{"", "profile", "cluster", "state", "registrar"}};
  Json json = Json::array();
  int code = kDone;
  for (const std::string& name : names) {
    const auto profile = agents::LoadProfile(profilePath(name));
    if (!profile) {
      code = failed(profile.error());
      continue;
    }
    const std::string state = stateOf(*profile);
    const bool isCurrent = name == currentProfile();
    rows.push_back({isCurrent ? "*" : "", profile->name, profile->cluster_name(), state,
                    profile->registrar_endpoint});
    json.push_back({{"name", profile->name},
                    {"cluster", profile->cluster_name()},
                    {"current", isCurrent},
                    {"state", state},
                    {"registrar", profile->registrar_endpoint},
                    {"directory", profile->directory}});
  }
  if (call.json)
    printLine({{"profiles", std::move(json)}});
  else
    fmt::print("{}", formatTable(rows));
  return code;
}

int runUse(const Invocation& call) {
  const std::string name = call.arguments.word(0);
  const bool clears = call.arguments.has("clear");
  if (name.empty() != clears)
    return wrongUsage(InvalidArgument(clears ? "--clear takes no PROFILE"
                                             : "`profile use` needs PROFILE, or --clear"));
  if (!clears) {
    if (const auto good = checkName("profile", name); !good) return wrongUsage(good.error());
    const std::vector<std::string> known = profileNames();
    if (std::ranges::count(known, name) == 0)
      return failed(
          NotFound(fmt::format("no profile is named '{}'{}", name, didYouMean(name, known))));
  }
  if (const auto saved = setCurrentProfile(name); !saved) return failed(saved.error());
  if (call.json)
    printLine({{"current", clears ? Json(nullptr) : Json(name)}});
  else
    fmt::print("{}\n", clears ? "no profile is chosen" : fmt::format("'{}' is chosen", name));
  return kDone;
}

int runRemove(const Invocation& call) {
  const std::string name = call.arguments.word(0);
  if (const auto good = checkName("profile", name); !good) return wrongUsage(good.error());
  const auto profile = agents::LoadProfile(profilePath(name));
  if (!profile && profile.error().code == ErrorCode::kNotFound)
    return failed(NotFound(fmt::format("no profile is named '{}'", name)));
  if (profile && stateOf(*profile) == "running" && profile->cluster_name() == name)
    return failed(FailedPrecondition(fmt::format(
        "cluster '{}' is running; `tesseractl down --cluster {}` stops it", name, name)));
  if (currentProfile() == name)
    if (const auto cleared = setCurrentProfile(""); !cleared) return failed(cleared.error());
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

Result<agents::Profile> readProfile(const Arguments& arguments) {
  if (const auto file = arguments.value("file")) {
    TESSERA_TRY(auto profile, agents::LoadProfile(engine::AbsolutePath(*file)));
    profile.cluster = arguments.valueOr("cluster", profile.cluster_name());
    profile.name = arguments.word(0);
    if (const auto key = arguments.value("key")) profile.key_file = engine::AbsolutePath(*key);
    return profile;
  }
  agents::Profile profile;
  profile.name = arguments.word(0);
  profile.cluster = arguments.valueOr("cluster", "");
  const auto need = [&](const char* option) -> Result<std::string> {
    const auto value = arguments.value(option);
    if (!value) return InvalidArgument(fmt::format("`profile add` needs --{}, or --file", option));
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
  TESSERA_OR_USAGE(const auto profile, readProfile(call.arguments));
  if (const auto good = checkName("cluster", profile.cluster_name()); !good)
    return wrongUsage(good.error());
  if (const auto keys = agents::LoadKeys(profile.key_file); !keys) return failed(keys.error());
  std::error_code ignored;
  if (std::filesystem::exists(profilePath(name), ignored) && !call.arguments.has("force"))
    return failed(AlreadyExists(fmt::format("profile '{}' exists; --force replaces it", name)));
  if (const auto saved = agents::SaveProfile(profile); !saved) return failed(saved.error());
  if (call.json)
    printLine({{"name", name},
               {"cluster", profile.cluster_name()},
               {"profile", profilePath(name)},
               {"registrar", profile.registrar_endpoint},
               {"events", profile.events_endpoint}});
  else
    fmt::print("profile '{}' is saved; `tesseractl --cluster {} doctor` tries it\n", name, name);
  return kDone;
}

}  // namespace

Command profileAddCommand() {
  return {
      {.verb = "profile add",
       .summary = "Name a cluster of other machines",
       .words = {{"NAME", "name of the profile"}},
       .options = {{.name = "cluster",
                    .value = "CLUSTER",
                    .help = "name of the cluster, as its nodes have it",
                    .fallback = "NAME, or that of the profile file"},
                   {.name = "registrar",
                    .value = "HOST[:PORT]",
                    .help = "address of node 0",
                    .fallback = fmt::format("port {}", kDefaultPort)},
                   {.name = "events",
                    .value = "HOST:PORT",
                    .help = "address where node 0 publishes events",
                    .fallback = "the registrar's port + 1"},
                   {.name = "server-key",
                    .value = "KEY|FILE",
                    .help = "public key of node 0, or its .pub file"},
                   {.name = "key", .value = "FILE", .help = "your key pair, as made by `keys new`"},
                   {.name = "file",
                    .value = "FILE",
                    .help = "take all this from a profile file; --cluster and --key replace what "
                            "it says"},
                   forceOption("replace a profile of that name")},
       .notes = {"Several profiles may name one cluster, for example one with an operator's key "
                 "and one with a viewer's."},
       .examples = {"tesseractl profile add lab --registrar 10.0.0.1 --server-key n0.pub --key "
                    "laptop.key",
                    "tesseractl profile add lab --file lab.json",
                    "tesseractl profile add lab-view --file lab.json --key viewer.key"}},
      runAdd};
}

Command profileListCommand() {
  return {{.verb = "profile list",
           .summary = "List the clusters that are known on this machine",
           .options = {namesOption()},
           .notes = {"A star marks the profile of `profile use`."},
           .examples = {"tesseractl profile list"}},
          runProfileList};
}

Command profileUseCommand() {
  return {{.verb = "profile use",
           .summary = "Choose the cluster that verbs and the panel use from now on",
           .words = {{"PROFILE", "name of a profile; none with --clear", false}},
           .options = {{.name = "clear", .value = "", .help = "forget the choice"}, quietOption()},
           .notes = {"--cluster and TESSERA_CLUSTER take precedence."},
           .examples = {"tesseractl profile use lab", "tesseractl profile use --clear"}},
          runUse};
}

Command profileRemoveCommand() {
  return {{.verb = "profile remove",
           .summary = "Forget a cluster that does not run on this machine",
           .words = {{"PROFILE", "name of a profile"}},
           .examples = {"tesseractl profile remove lab"}},
          runRemove};
}

}  // namespace tessera::app
