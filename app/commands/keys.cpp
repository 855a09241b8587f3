// SPDX-License-Identifier: GPL-3.0-or-later
/// \file
/// `keys new`, `keys list`, `keys revoke`: CurveZMQ key pairs of nodes and operators. A secret key
/// stays on its machine; only NAME.pub is copied to other machines.

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "agents/client/cluster.h"
#include "agents/net/socket.h"
#include "app/commands/command.h"
#include "app/commands/json.h"
#include "app/commands/paths.h"
#include "app/commands/units.h"
#include "engine/files/absolute_path.h"

namespace tessera::app {
namespace {

namespace fs = std::filesystem;

fs::path folderOf(const Arguments& arguments) {
  const auto given = arguments.value("folder");
  return engine::AbsolutePath(given ? *given : agents::TesseraHome() + "/keys");
}

int runNew(const Invocation& call) {
  const std::string name = call.arguments.word(0);
  const std::string role = call.arguments.valueOr("role", "operator");
  if (const auto known = agents::ParseRole(role); !known) return wrongUsage(known.error());
  if (const auto good = checkName("key", name); !good) return wrongUsage(good.error());
  const fs::path folder = folderOf(call.arguments);
  const fs::path secretFile = folder / (name + ".key");
  const fs::path publicFile = folder / (name + ".pub");
  std::error_code failure;
  if (fs::exists(secretFile, failure) && !call.arguments.has("force"))
    return failed(
        AlreadyExists(fmt::format("{} exists; --force replaces it, and nodes that admit only the "
                                  "old public key refuse the new one",
                                  secretFile.string())));
  const bool made = fs::create_directories(folder, failure);
  if (failure)
    return failed(
        Unavailable(fmt::format("cannot make {}: {}", folder.string(), failure.message())));
  if (made) fs::permissions(folder, fs::perms::owner_all, failure);
  const agents::CurveKeys keys = agents::NewCurveKeys();
  if (const auto saved = agents::SaveKeys(keys, secretFile.string()); !saved)
    return failed(saved.error());
  if (const auto saved = agents::SavePublicKey(keys.public_key, publicFile.string(), role); !saved)
    return failed(saved.error());
  if (call.json) {
    printLine({{"name", name},
               {"role", role},
               {"public", keys.public_key},
               {"key_file", secretFile.string()},
               {"public_file", publicFile.string()}});
  } else {
    fmt::print("secret  {}  (stays on this machine, readable by you alone)\n", secretFile.string());
    fmt::print("public  {}  (copy it into the allowed folder of every node)\n",
               publicFile.string());
    fmt::print("role    {}\n", role);
    fmt::print("{}\n", keys.public_key);
  }
  return kDone;
}

int runKeyList(const Invocation& call) {
  const fs::path folder = folderOf(call.arguments);
  std::vector<fs::path> files;
  std::error_code failure;
  for (const auto& entry : entriesOf(folder, failure))
    if (entry.path().extension() == ".key" || entry.path().extension() == ".pub")
      files.push_back(entry.path());
  if (failure && failure != std::errc::no_such_file_or_directory)
    return failed(
        Unavailable(fmt::format("cannot list {}: {}", folder.string(), failure.message())));
  std::vector<std::vector<std::string>> rows = {{"file", "kind", "role", "public key", "note"}};
  Json json = Json::array();
  int code = kDone;
  for (const fs::path& file : files) {
    const bool isPair = file.extension() == ".key";
    const auto key = agents::LoadOwnedKey(file.string());
    if (!key) {
      code = failed(key.error());
      continue;
    }
    const std::string role = key->has_role ? agents::RoleText(key->owner) : "";
    const bool open = isPair && agents::CanOthersRead(file.string());
    const std::string kind = isPair ? "pair" : "public";
    const std::string note = open ? "others can read the secret: chmod 600" : "";
    rows.push_back({file.filename().string(), kind, role, key->public_key, note});
    json.push_back({{"file", file.string()},
                    {"kind", kind},
                    {"role", role},
                    {"public", key->public_key},
                    {"note", note}});
  }
  if (call.json)
    printLine({{"keys", std::move(json)}});
  else if (rows.size() == 1)
    fmt::print("no keys in {}; `tesseractl keys new NAME` makes a pair\n", folder.string());
  else
    fmt::print("{}", formatTable(rows));
  return code;
}

int runRevoke(const Invocation& call) {
  const std::string wanted = call.arguments.word(0);
  const auto given = call.arguments.value("allowed");
  if (!given)
    return wrongUsage(
        InvalidArgument("keys revoke needs --allowed DIR, a node's folder of public keys"));
  std::vector<std::string> removed;
  std::error_code failure;
  std::vector<fs::path> files;
  for (const auto& entry : entriesOf(*given, failure)) files.push_back(entry.path());
  if (failure)
    return failed(NotFound(fmt::format("cannot list {}: {}", *given, failure.message())));
  for (const fs::path& file : files) {
    if (file.extension() != ".pub") continue;
    const auto key = agents::LoadPublicKey(file.string());
    if (file.stem().string() != wanted && !(key && *key == wanted)) continue;
    fs::remove(file, failure);
    if (failure)
      return failed(
          Unavailable(fmt::format("cannot remove {}: {}", file.string(), failure.message())));
    removed.push_back(file.string());
  }
  if (removed.empty())
    return failed(NotFound(fmt::format("no public key '{}' in {}", wanted, *given)));
  if (call.json) {
    printLine({{"removed", removed}});
  } else {
    for (const std::string& file : removed) fmt::print("removed {}\n", file);
    fmt::print("the agent refuses it within 2 s, also on connections that are open\n");
  }
  return kDone;
}

OptionSpec folderOption() {
  return {.name = "folder",
          .value = "DIR",
          .help = "folder of the keys",
          .fallback = "TESSERA_HOME/keys"};
}

}  // namespace

Command keysNewCommand() {
  return {{.verb = "keys new",
           .summary = "Make a key pair for a node or an operator",
           .words = {{"NAME", "name of the pair, such as n1 or laptop"}},
           .options = {{.name = "role",
                        .value = "ROLE",
                        .help = "what its owner may do: `viewer` sees, `operator` acts and reads "
                                "the state of jobs, `node N` speaks for node N",
                        .fallback = "operator"},
                       folderOption(),
                       forceOption("replace a pair of that name")},
           .notes = {"The role is in the .pub file, and counts where it lies in a node's folder of "
                     "accepted keys: its operator can change it there."},
           .examples = {"tesseractl keys new laptop", "tesseractl keys new lecture --role viewer"}},
          runNew};
}

Command keysListCommand() {
  return {{.verb = "keys list",
           .summary = "List key files with their public keys",
           .options = {folderOption()},
           .examples = {"tesseractl keys list"}},
          runKeyList};
}

Command keysRevokeCommand() {
  return {{.verb = "keys revoke",
           .summary = "Remove a public key from a node's folder of accepted keys",
           .words = {{"NAME", "name of the .pub file, or the key itself"}},
           .options = {{.name = "allowed",
                        .value = "DIR",
                        .help = "the node's folder of accepted keys, such as /etc/tessera/allowed; "
                                "required"}},
           .notes = {"Run it on every node, or copy the folder."},
           .examples = {"tesseractl keys revoke laptop --allowed /etc/tessera/allowed"}},
          runRevoke};
}

}  // namespace tessera::app
