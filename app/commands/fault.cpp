// SPDX-License-Identifier: GPL-3.0-or-later
/// \file
/// `device fail` and `node kill`: faults of emulated clusters, to try what happens.

#include <fmt/format.h>

#include "agents/wire/convert.h"
#include "agents/wire/tessera/wire/control.pb.h"
#include "app/commands/command.h"
#include "app/commands/json.h"
#include "app/commands/session.h"

namespace tessera::app {
namespace {

int send(const Invocation& call, wire::Request request, const std::string& what) {
  auto session = openSession(call);
  if (!session) return failed(session.error());
  if (session->profile.directory.empty())
    return failed(FailedPrecondition(
        fmt::format("'{}' is not a cluster of emulated devices", session->profile.name)));
  const auto reply = session->ask(std::move(request));
  if (!reply) return failed(reply.error());
  if (call.json)
    printLine({{"done", what}});
  else
    fmt::print("{}\n", what);
  return kDone;
}

int runFail(const Invocation& call) {
  const auto device = ptc::ParseDevice(call.arguments.word(0));
  if (!device) return wrongUsage(device.error());
  wire::Request request;
  agents::Encode(*device, request.mutable_fail_device()->mutable_device());
  return send(call, std::move(request),
              fmt::format("device {} has failed", ptc::ToString(*device)));
}

int runKill(const Invocation& call) {
  const std::string name = call.arguments.word(0);
  const auto device = ptc::ParseDevice(name + "g0");
  if (!device)
    return wrongUsage(InvalidArgument(fmt::format("'{}' is not a node such as n1", name)));
  wire::Request request;
  request.mutable_kill_node()->set_node(device->node);
  return send(call, std::move(request), fmt::format("node {} is killed", name));
}

}  // namespace

Command deviceFailCommand() {
  return {{"device fail",
           "makes an emulated device fail",
           {{"DEVICE", "n0g3"}},
           {},
           {"Emulated clusters only."}},
          runFail};
}
Command nodeKillCommand() {
  return {{"node kill",
           "kills a node of an emulated cluster, with all that runs there",
           {{"NODE", "n1"}},
           {},
           {"Emulated clusters only."}},
          runKill};
}

}  // namespace tessera::app
