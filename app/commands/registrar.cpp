// SPDX-License-Identifier: GPL-3.0-or-later
/// \file
/// `registrar show`: the node that coordinates the cluster, and where transactions are decided.

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "agents/wire/tessera/wire/control.pb.h"
#include "app/commands/command.h"
#include "app/commands/json.h"
#include "app/commands/session.h"
#include "app/commands/units.h"
#include "engine/data/is_url.h"

namespace tessera::app {
namespace {

std::string memberText(const wire::RegisterMember& member) {
  if (!member.problem().empty()) return member.problem();
  if (member.version().empty()) return "readable";
  return fmt::format("etcd {}{}, answered in {:.0f} ms", member.version(),
                     member.leads() ? ", leader" : "", 1000 * member.seconds());
}

Json registrarToJson(const wire::RegistrarReply& reply) {
  Json members = Json::array();
  for (const wire::RegisterMember& member : reply.members())
    members.push_back({{"place", member.place()},
                       {"version", member.version()},
                       {"leads", member.leads()},
                       {"seconds", member.seconds()},
                       {"problem", member.problem()}});
  return {{"node", fmt::format("n{}", reply.node())},
          {"endpoint", reply.endpoint()},
          {"events", reply.events()},
          {"register",
           {{"store", reply.store()},
            {"prefix", reply.prefix()},
            {"decides", reply.problem().empty()},
            {"problem", reply.problem()},
            {"members", std::move(members)}}}};
}

int runRegistrarShow(const Invocation& call) {
  TESSERA_OR_FAILED(auto session, openSession(call));
  wire::Request request;
  request.mutable_registrar();
  // Members that are down take their time.
  TESSERA_OR_FAILED(const auto reply, session.ask(std::move(request), kJobTimeout));
  const wire::RegistrarReply& shown = reply.registrar();
  const bool decides = shown.problem().empty();
  if (call.json) {
    printLine(registrarToJson(shown));
    return decides ? kDone : kFailed;
  }
  fmt::print("registrar  n{} of '{}', {}\n", shown.node(), session.profile.name, shown.endpoint());
  fmt::print("register   {}\n", shown.store() == "etcd"
                                    ? fmt::format("etcd, keys below {}", shown.prefix())
                                    : "embedded: in the journal of the registrar");
  std::vector<std::vector<std::string>> rows;
  for (const wire::RegisterMember& member : shown.members())
    rows.push_back({"  " + member.place(), memberText(member)});
  fmt::print("{}", formatTable(rows));
  fmt::print("decides    {}\n", decides ? "yes" : "no: " + shown.problem());
  return decides ? kDone : kFailed;
}

}  // namespace

Command registrarShowCommand() {
  return {{.verb = "registrar show",
           .summary = "Show where the cluster is coordinated and transactions are decided",
           .notes = {"Exits with 1 if nothing can be decided now, for example because most members "
                     "of etcd are down. Changes then wait, and nothing is lost."},
           .examples = {"tesseractl registrar show", "tesseractl --json registrar show"}},
          runRegistrarShow};
}

}  // namespace tessera::app
