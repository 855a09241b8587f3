// SPDX-License-Identifier: GPL-3.0-or-later
/// \file
/// `device fail`, `node kill` and `node start`: cause faults in emulated clusters, and repair them.
/// `node give-up`: says that a silent node of any cluster is lost.

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "agents/wire/convert.h"
#include "agents/wire/tessera/wire/control.pb.h"
#include "app/commands/command.h"
#include "app/commands/confirm.h"
#include "app/commands/json.h"
#include "app/commands/local_cluster.h"
#include "app/commands/node_name.h"
#include "app/commands/progress_line.h"
#include "app/commands/session.h"
#include "app/commands/units.h"

namespace tessera::app {
namespace {

Status checkEmulated(const agents::Profile& profile) {
  if (!profile.directory.empty()) return OkStatus();
  return FailedPrecondition(fmt::format("'{}' is not a cluster of emulated devices", profile.name));
}

int sendFault(const Invocation& call, wire::Request request, const std::string& what) {
  TESSERA_OR_FAILED(auto session, openSession(call));
  if (const Status emulated = checkEmulated(session.profile); !emulated)
    return failed(emulated.error());
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

Result<std::int32_t> readNode(const Arguments& arguments) {
  return parseNodeName(arguments.word(0));
}

Result<wire::Reply> startSimulatedNode(const Invocation& call, std::int32_t node) {
  wire::Request request;
  request.mutable_simulate()->set_start_node(node);
  return askOnce(call, std::move(request));
}

int runKill(const Invocation& call) {
  TESSERA_OR_USAGE(const auto node, readNode(call.arguments));
  const std::string name = call.arguments.word(0);
  if (const auto refused =
          askBefore(call, fmt::format("Kill node {} with everything on it, for good", name)))
    return *refused;
  wire::Request request;
  request.mutable_kill_node()->set_node(node);
  return sendFault(call, std::move(request), fmt::format("node {} is killed", name));
}

int runGiveUp(const Invocation& call) {
  TESSERA_OR_USAGE(const auto node, readNode(call.arguments));
  const std::string name = call.arguments.word(0);
  if (const auto refused =
          askBefore(call, fmt::format("Give node {} up: what it holds counts as lost", name)))
    return *refused;
  TESSERA_OR_FAILED(auto session, openSession(call));
  wire::Request request;
  request.mutable_kill_node()->set_node(node);
  request.mutable_kill_node()->set_give_up(true);
  TESSERA_OR_FAILED(const auto reply, session.ask(std::move(request)));
  const std::string what = fmt::format("node {} is given up", name);
  if (call.json)
    printLine({{"done", what}});
  else if (!call.quiet)
    fmt::print("{}\n", what);
  return kDone;
}

int runNodeStart(const Invocation& call) {
  TESSERA_OR_USAGE(const auto node, readNode(call.arguments));
  TESSERA_OR_FAILED(const auto profile, findProfile(call.cluster));
  if (const Status emulated = checkEmulated(profile); !emulated) return failed(emulated.error());
  if (isSimulated(profile.directory)) {
    TESSERA_OR_FAILED(const auto reply, startSimulatedNode(call, node));
  } else {
    ProgressLine progress(call.json || call.quiet);
    const Status started = startLocalNode(profile, node, showMemory(progress));
    progress.clear();
    if (!started) return failed(started.error());
  }
  const std::string what =
      fmt::format("node {} is back, its GPUs are empty", call.arguments.word(0));
  if (call.json)
    printLine({{"done", what}});
  else if (!call.quiet)
    fmt::print("{}\n", what);
  return kDone;
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
Command nodeStartCommand() {
  return {{.verb = "node start",
           .summary = "Start a killed node of an emulated cluster again",
           .words = {{"NODE", "such as n1"}},
           .options = {quietOption()},
           .notes = {"Works on emulated clusters only. The GPUs of the node are empty: a job that "
                     "waits for them fills them from its replicas."},
           .examples = {"tesseractl node start n1"}},
          runNodeStart};
}
Command nodeGiveUpCommand() {
  return {{.verb = "node give-up",
           .summary = "Say that a silent node is lost, so that its jobs can go on; asks first",
           .words = {{"NODE", "such as n1"}},
           .options = {yesOption(), quietOption()},
           .notes = {"A node of which nothing is heard may still train. Only you can know that it "
                     "is gone: then its jobs are suspended, and continue on other nodes from "
                     "replicas or a snapshot, or wait. If it returns after all, its state is used "
                     "only by jobs that have waited for it."},
           .examples = {"tesseractl node give-up n1"}},
          runGiveUp};
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
