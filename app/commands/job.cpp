// SPDX-License-Identifier: GPL-3.0-or-later
/// \file
/// `job stop`, `job pause`, `job resume`.

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "agents/wire/tessera/wire/control.pb.h"
#include "app/commands/command.h"
#include "app/commands/confirm.h"
#include "app/commands/json.h"
#include "app/commands/session.h"
#include "app/commands/units.h"

namespace tessera::app {
namespace {

using Act = wire::JobRequest;

Status checkedJob(const Invocation& call) { return checkName("job", call.arguments.word(0)); }

int act(const Invocation& call, Act::Act what, const std::string& state) {
  const std::string job = call.arguments.word(0);
  if (const auto good = checkedJob(call); !good) return wrongUsage(good.error());
  wire::Request request;
  request.mutable_job()->set_job(job);
  request.mutable_job()->set_act(what);
  request.mutable_job()->set_destroy(call.arguments.has("destroy"));
  TESSERA_OR_FAILED(const auto reply, askOnce(call, std::move(request), kJobTimeout));
  if (call.json)
    printLine({{"job", job}, {"state", state}, {"step", reply.job().step()}});
  else
    fmt::print("{} is {} at step {}\n", job, state, reply.job().step());
  return kDone;
}

int runStop(const Invocation& call) {
  if (const auto job = checkedJob(call); !job) return wrongUsage(job.error());
  const std::string& job = call.arguments.word(0);
  const bool destroys = call.arguments.has("destroy");
  const auto refused = askBefore(
      call, destroys
                ? fmt::format("Free what nodes hold of job '{}', which cannot be restored", job)
                : fmt::format("Stop job '{}' and release its state, for good", job));
  return refused ? *refused : act(call, Act::STOP, "stopped");
}

Syntax jobSyntax(const std::string& verb, const std::string& summary) {
  return {.verb = verb,
          .summary = summary,
          .words = {{"JOB", "name of the job"}},
          .options = {quietOption()},
          .examples = {fmt::format("tesseractl {} gpt-mini", verb)}};
}

}  // namespace

Command jobStopCommand() {
  Syntax syntax = jobSyntax("job stop", "Stop a job and release its state; asks first");
  syntax.options.insert(syntax.options.begin(),
                        {{.name = "destroy",
                          .value = "",
                          .help = "for a job that only nodes know and that no rebuild can restore"},
                         yesOption()});
  syntax.notes = {
      "The state is lost. `job pause` keeps it.",
      "If the registrar has lost its row of the job, `registrar rebuild` restores it. If "
      "that is impossible, this command says why, and which nodes hold what of the job. "
      "Only --destroy frees that."};
  syntax.examples = {"tesseractl job stop gpt-mini", "tesseractl job stop gpt-mini --yes"};
  return {std::move(syntax), runStop};
}
Command jobPauseCommand() {
  return {jobSyntax("job pause", "Pause a job after its current step and keep its state"),
          [](const Invocation& call) { return act(call, Act::PAUSE, "paused"); }};
}
Command jobResumeCommand() {
  return {jobSyntax("job resume", "Resume a paused job"),
          [](const Invocation& call) { return act(call, Act::RESUME, "running"); }};
}

}  // namespace tessera::app
