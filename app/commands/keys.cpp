// SPDX-License-Identifier: GPL-3.0-or-later
/// \file
/// `keys new`, `keys list`, `keys revoke`: CurveZMQ key pairs of nodes and operators. A secret key
/// stays on its machine; only NAME.pub is copied to other machines.

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "agents/client/cluster.h"
#include "app/commands/command.h"
#include "app/commands/json.h"
#include "app/commands/key_files.h"
#include "app/commands/units.h"
#include "engine/files/absolute_path.h"

namespace tessera::app {
namespace {

namespace fs = std::filesystem;

fs::path folderOf(const Arguments& arguments) {
  const auto given = arguments.value("folder");
  return given ? fs::path(engine::AbsolutePath(*given)) : ownKeyFolder();
}

int runNew(const Invocation& call) {
  const std::string name = call.arguments.word(0);
  const std::string role = call.arguments.valueOr("role", "operator");
  if (const auto known = agents::ParseRole(role); !known) return wrongUsage(known.error());
  if (const auto good = checkName("key", name); !good) return wrongUsage(good.error());
  TESSERA_OR_FAILED(const auto made,
                    makeKeyPair(folderOf(call.arguments), name, role, call.arguments.has("force")));
  if (call.json) {
    printLine({{"name", name},
               {"role", role},
               {"public", made.publicKey},
               {"key_file", made.secretFile.string()},
               {"public_file", made.publicFile.string()}});
  } else {
    fmt::print("secret  {}  (stays on this machine, readable by you alone)\n",
               made.secretFile.string());
    fmt::print("public  {}  (copy it into the allowed folder of every node)\n",
               made.publicFile.string());
    fmt::print("role    {}\n", role);
    fmt::print("{}\n", made.publicKey);
  }
  return kDone;
}

int runKeyList(const Invocation& call) {
  const fs::path folder = folderOf(call.arguments);
  TESSERA_OR_FAILED(const auto list, listKeys(folder));
  int code = kDone;
  for (const Error& error : list.unreadable) code = failed(error);
  std::vector<std::vector<std::string>> rows = {{"file", "kind", "role", "public key", "note"}};
  Json json = Json::array();
  for (const KeyFile& key : list.keys) {
    const std::string kind = key.isPair ? "pair" : "public";
    const std::string note = key.isOpen ? "others can read the secret: chmod 600" : "";
    rows.push_back({key.file.filename().string(), kind, key.role, key.publicKey, note});
    json.push_back({{"file", key.file.string()},
                    {"kind", kind},
                    {"role", key.role},
                    {"public", key.publicKey},
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
  const auto given = call.arguments.value("allowed");
  if (!given)
    return wrongUsage(
        InvalidArgument("keys revoke needs --allowed DIR, a node's folder of public keys"));
  TESSERA_OR_FAILED(const auto removed, removeAcceptedKey(*given, call.arguments.word(0)));
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
