// SPDX-License-Identifier: GPL-3.0-or-later
/// \file
/// `device fail` and `node kill`: cause faults in emulated clusters.

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "agents/wire/convert.h"
#include "agents/wire/tessera/wire/control.pb.h"
#include "app/commands/command.h"
#include "app/commands/confirm.h"
#include "app/commands/json.h"
#include "app/commands/session.h"

namespace tessera::app {
namespace {

int sendFault(const Invocation& call, wire::Request request, const std::string& what) {
  TESSERA_OR_FAILED(auto session, openSession(call));
  if (session.profile.directory.empty())
    return failed(FailedPrecondition(
        fmt::format("'{}' is not a cluster of emulated devices", session.profile.name)));
  TESSERA_OR_FAILED(const auto reply, session.ask(std::move(request)));
  if (call.json)
    printLine({{"done", what}});
  else
    fmt::print("{}\n", what);
  return kDone;
}

int runFail(const Invocation& call) {
  TESSERA_OR_USAGE(const auto device, ptc::ParseDevice(call.arguments.word(0)));
  wire::Request request;
  agents::Encode(device, request.mutable_fail_device()->mutable_device());
  return sendFault(call, std::move(request),
                   fmt::format("device {} has failed", ptc::ToString(device)));
}

int runKill(const Invocation& call) {
  const std::string name = call.arguments.word(0);
  const auto device = ptc::ParseDevice(name + "g0");
  if (!device)
    return wrongUsage(InvalidArgument(fmt::format("'{}' is not a node such as n1", name)));
  if (const auto refused =
          askBefore(call, fmt::format("Kill node {} with everything on it, for good", name)))
    return *refused;
  wire::Request request;
  request.mutable_kill_node()->set_node(device->node);
  return sendFault(call, std::move(request), fmt::format("node {} is killed", name));
}

}  // namespace

Command deviceFailCommand() {
  return {{.verb = "device fail",
           .summary = "Let an emulated GPU fail, to see what happens",
           .words = {{"DEVICE", "such as n0g3"}},
           .options = {quietOption()},
           .notes = {"Works on emulated clusters only."},
           .examples = {"tesseractl device fail n0g3"}},
          runFail};
}
Command nodeKillCommand() {
  return {{.verb = "node kill",
           .summary = "Kill a node of an emulated cluster with everything on it; asks first",
           .words = {{"NODE", "such as n1"}},
           .options = {yesOption(), quietOption()},
           .notes = {"Works on emulated clusters only. The state on the node is lost."},
           .examples = {"tesseractl node kill n1", "tesseractl node kill n1 --yes"}},
          runKill};
}

}  // namespace tessera::app
