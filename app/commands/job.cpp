// SPDX-License-Identifier: GPL-3.0-or-later
/// \file
/// `job stop`, `job pause`, `job resume`.

#include <fmt/format.h>

#include "agents/wire/tessera/wire/control.pb.h"
#include "app/commands/command.h"
#include "app/commands/json.h"
#include "app/commands/session.h"
#include "app/commands/units.h"

namespace tessera::app {
namespace {

using Act = wire::JobRequest;

int act(const Invocation& call, Act::Act what, const std::string& state) {
  const std::string job = call.arguments.word(0);
  if (const auto good = checkName("job", job); !good) return wrongUsage(good.error());
  wire::Request request;
  request.mutable_job()->set_job(job);
  request.mutable_job()->set_act(what);
  const auto reply = askOnce(call, std::move(request), kJobTimeout);
  if (!reply) return failed(reply.error());
  if (call.json)
    printLine({{"job", job}, {"state", state}, {"step", reply->job().step()}});
  else
    fmt::print("{} is {} at step {}\n", job, state, reply->job().step());
  return kDone;
}

Syntax syntaxOf(const std::string& verb, const std::string& summary) {
  return {verb, summary, {{"JOB", "job"}}, {}, {}};
}

}  // namespace

Command jobStopCommand() {
  return {syntaxOf("job stop", "ends a job and frees its state"),
          [](const Invocation& call) { return act(call, Act::STOP, "stopped"); }};
}
Command jobPauseCommand() {
  return {syntaxOf("job pause", "pauses a job at a step boundary; its state stays"),
          [](const Invocation& call) { return act(call, Act::PAUSE, "paused"); }};
}
Command jobResumeCommand() {
  return {syntaxOf("job resume", "lets a paused job go on"),
          [](const Invocation& call) { return act(call, Act::RESUME, "running"); }};
}

}  // namespace tessera::app
