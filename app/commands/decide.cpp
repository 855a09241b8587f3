// SPDX-License-Identifier: GPL-3.0-or-later
/// \file
/// `txn decide`, `job on-failure` and `job snapshots`: what a job does when it has lost GPUs, and
/// what it keeps for that.

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "agents/wire/convert.h"
#include "agents/wire/tessera/wire/control.pb.h"
#include "agents/wire/utf8.h"
#include "app/commands/command.h"
#include "app/commands/json.h"
#include "app/commands/loss_choices.h"
#include "app/commands/session.h"

namespace tessera::app {
namespace {

/// \param document the decision in JSON, without the job
int sendDecision(const Invocation& call, wire::Request request, const Json& document) {
  Json json = {{"job", request.decision().job()}};
  json.update(document);
  TESSERA_OR_FAILED(const auto reply, askOnce(call, std::move(request)));
  if (call.json)
    printLine(json);
  else if (!call.quiet)
    fmt::print("{}\n", reply.decision().text());
  return kDone;
}

/// Shows what may be chosen.
int showChoices(const Invocation& call) {
  const std::string name = call.arguments.word(0);
  TESSERA_OR_FAILED(auto session, openSession(call));
  TESSERA_OR_FAILED(const auto snapshot, session.snapshot());
  const auto job = std::ranges::find(snapshot.jobs, name, &engine::JobStatus::name);
  if (job == snapshot.jobs.end()) return failed(NotFound(fmt::format("no job '{}'", name)));
  if (!job->decision)
    return failed(FailedPrecondition(fmt::format("job '{}' is {}: there is nothing to decide", name,
                                                 engine::ToString(job->state))));
  if (call.json) {
    printLine({{"job", name}, {"decision", toJson(*job->decision)}});
    return kDone;
  }
  fmt::print("{}", describeChoices(*job));
  if (!session.profile.directory.empty() && !job->decision->awaited.empty())
    fmt::print("`tesseractl node start n{}` starts the node again, with empty GPUs\n",
               job->decision->awaited.front().node);
  fmt::print("`tesseractl job stop {}` ends the job\n", name);
  return kDone;
}

int runDecide(const Invocation& call) {
  const std::string word = call.arguments.word(1);
  if (word.empty()) return showChoices(call);
  TESSERA_OR_USAGE(const DecideWord wanted, parseDecideWord(word));
  wire::Request request;
  request.mutable_decision()->set_job(agents::Utf8(call.arguments.word(0)));
  request.mutable_decision()->set_choice(static_cast<std::uint32_t>(wanted.choice));
  if (wanted.source)
    request.mutable_decision()->set_source(static_cast<std::uint32_t>(*wanted.source));
  return sendDecision(call, std::move(request), {{"choice", word}});
}

int runOnFailure(const Invocation& call) {
  TESSERA_OR_USAGE(const auto policy, engine::ParseOnFailure(call.arguments.word(1)));
  wire::Request request;
  request.mutable_decision()->set_job(agents::Utf8(call.arguments.word(0)));
  request.mutable_decision()->set_on_failure(static_cast<std::uint32_t>(policy));
  return sendDecision(call, std::move(request), {{"on_failure", engine::ToString(policy)}});
}

int runSnapshots(const Invocation& call) {
  TESSERA_OR_USAGE(const auto every, engine::ParseSnapshotEvery(call.arguments.word(1)));
  wire::Request request;
  request.mutable_decision()->set_job(agents::Utf8(call.arguments.word(0)));
  agents::Encode(every, request.mutable_decision()->mutable_snapshots());
  return sendDecision(call, std::move(request), toJson(every));
}

}  // namespace

Command txnDecideCommand() {
  return {{.verb = "txn decide",
           .summary = "Decide how a job continues that has lost GPUs",
           .words = {{"JOB", "name of the job", true},
                     {"CHOICE",
                      "what to do; without it the choices are shown with what they cost",
                      false,
                      false,
                      {"continue", "snapshot", "checkpoint", "wait"}}},
           .options = {quietOption()},
           .notes =
               {"`continue` goes on with the GPUs that are left, spare ones first, from the newest "
                "state: no step is lost if replicas hold all of it. `snapshot` and `checkpoint` go "
                "back to the newest one, and lose the steps after it. `wait` keeps the state in "
                "memory until the lost GPUs are back. You may decide again at any time."},
           .examples = {"tesseractl txn decide gpt-mini", "tesseractl txn decide gpt-mini continue",
                        "tesseractl txn decide gpt-mini snapshot"}},
          runDecide};
}

Command jobOnFailureCommand() {
  return {
      {.verb = "job on-failure",
       .summary = "Set what a job does when it loses GPUs",
       .words = {{"JOB", "name of the job", true},
                 {"POLICY", "what to do", true, false, {"ask", "shrink", "wait"}}},
       .options = {quietOption()},
       .notes = {"`ask` waits for `txn decide`, and continues after 60 s if no step is lost by "
                 "that. `shrink` continues at once with the GPUs that are left, spare ones "
                 "first. `wait` waits for the lost GPUs. Whatever the policy is, the job starts "
                 "again by itself as soon as its own GPUs are back."},
       .examples = {"tesseractl job on-failure gpt-mini shrink"}},
      runOnFailure};
}

Command jobSnapshotsCommand() {
  return {{.verb = "job snapshots",
           .summary = "Set how often copies of a job's state are taken into memory",
           .words = {{"JOB", "name of the job", true},
                     {"EVERY", "20 (steps), 30s, 5m, 1h or off", true}},
           .options = {quietOption()},
           .notes =
               {"A snapshot is the whole state after one step, in the memory of two nodes. If GPUs "
                "are lost that held the only copy of something, the job can return to the newest "
                "snapshot, on any mesh. Each takes twice the state in memory, and twice that while "
                "the next is taken; the job trains on meanwhile. `tesseractl status` shows the "
                "newest."},
           .examples = {"tesseractl job snapshots gpt-mini 20"}},
          runSnapshots};
}

}  // namespace tessera::app
