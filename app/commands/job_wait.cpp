// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/commands/job_wait.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>
#include <thread>
#include <utility>

#include "app/commands/command.h"
#include "app/commands/interrupt.h"
#include "app/commands/job_text.h"
#include "app/commands/json.h"
#include "app/commands/progress_line.h"
#include "app/commands/proposal.h"
#include "app/commands/terminal.h"
#include "app/commands/units.h"
#include "app/commands/when.h"

namespace tessera::app {
namespace {

constexpr std::int64_t kMostWaitSteps = std::int64_t{1} << 40;
constexpr std::string_view kFinished = "finished";

std::string shownState(const engine::JobStatus& job) {
  return std::string(job.finished ? kFinished : engine::ToString(job.state));
}

bool isReached(const engine::JobStatus& job, const JobGoal& goal) {
  if (goal.step) return job.step >= *goal.step;
  if (!goal.state.empty())
    return goal.state == kFinished ? job.finished : goal.state == engine::ToString(job.state);
  return job.finished;
}

/// Why the job cannot reach the goal any more; empty if it can.
std::string obstacleOf(const engine::JobStatus& job, const JobGoal& goal) {
  if (job.state == engine::JobState::kFailed || job.state == engine::JobState::kUnknown)
    return fmt::format("job '{}' is {}{}", job.name, engine::ToString(job.state),
                       job.reason.empty() ? "" : ": " + job.reason);
  if (job.state == engine::JobState::kStopped) return fmt::format("job '{}' was stopped", job.name);
  if (goal.step && job.max_steps > 0 && *goal.step > job.max_steps)
    return fmt::format("job '{}' makes {} steps, so it never reaches step {}", job.name,
                       job.max_steps, *goal.step);
  if (job.finished && goal.step)
    return fmt::format("job '{}' has made all of its steps and ended at step {}, before step {}",
                       job.name, job.step, *goal.step);
  if (job.finished && goal.state == engine::ToString(engine::JobState::kRunning))
    return fmt::format("job '{}' has made all of its steps", job.name);
  const bool wantsEnd = goal.state == kFinished || (!goal.step && goal.state.empty());
  if (wantsEnd && job.max_steps == 0 && job.command.empty())
    return fmt::format("job '{}' has no last step: give --step or --state", job.name);
  return {};
}

std::string describeProgress(const engine::JobStatus& job, const JobGoal& goal) {
  std::string text = fmt::format("{} is {}, ", job.name, shownState(job));
  if (!goal.step) return text + progressOf(job);
  text += fmt::format("step {} of {}", job.step, *goal.step);
  if (const auto left = secondsTo(job, *goal.step))
    text += fmt::format(", about {} left", formatSpan(*left));
  return text;
}

Result<JobGoal> readGoal(const Arguments& arguments) {
  JobGoal goal{.job = arguments.word(0)};
  TESSERA_RETURN_IF_ERROR(checkName("job", goal.job));
  if (arguments.has("step") && arguments.has("state"))
    return InvalidArgument("--step and --state exclude each other");
  if (arguments.has("step")) {
    TESSERA_TRY(goal.step, arguments.integer("step", 0, 1, kMostWaitSteps));
  }
  goal.state = arguments.valueOr("state", "");
  return goal;
}

/// The outcome is not known: the job may reach the goal later.
int undecidedWait(const Error& error) {
  printError(error, kNeedsDecision);
  return kNeedsDecision;
}

bool isOutOfReach(const Error& error) {
  return error.code == ErrorCode::kUnavailable || error.code == ErrorCode::kTimeout;
}

int runWait(const Invocation& call) {
  TESSERA_OR_USAGE(const JobGoal goal, readGoal(call.arguments));
  JobWaitLimits limits;
  if (const auto text = call.arguments.value("timeout")) {
    // A number alone is in seconds, as with the --timeout of other verbs.
    const bool hasUnit = text->find_first_not_of("0123456789.") != std::string::npos;
    TESSERA_OR_USAGE(const double limit,
                     parseDuration(hasUnit ? *text : *text + "s").Context("--timeout"));
    limits.timeout = std::chrono::milliseconds(static_cast<std::int64_t>(limit * 1000));
  }
  auto session = openSession(call);
  if (!session)
    return isOutOfReach(session.error()) ? undecidedWait(session.error()) : failed(session.error());
  countInterrupts();
  limits.isInterrupted = [] { return numInterrupts() > 0; };
  ProgressLine line(call.json || call.quiet);
  auto waited =
      awaitJob(*session, goal, limits, [&line](const std::string& text) { line.show(text); });
  line.clear();
  if (!waited)
    return isOutOfReach(waited.error()) ? undecidedWait(waited.error()) : failed(waited.error());
  if (waited->verdict != JobWait::Verdict::kReached)
    return failed(FailedPrecondition(waited->text));
  if (call.json) {
    const bool isThere = waited->job.has_value();
    printLine({{"job", goal.job},
               {"state", isThere ? shownState(*waited->job) : "stopped"},
               {"step", isThere ? Json(waited->job->step) : Json(nullptr)}});
  } else {
    fmt::print("{}\n", waited->text);
  }
  return kDone;
}

}  // namespace

const std::vector<std::string>& statesToWaitFor() {
  static const std::vector<std::string> states = [] {
    std::vector<std::string> names;
    for (const engine::JobState state :
         {engine::JobState::kRunning, engine::JobState::kPaused, engine::JobState::kReconfiguring,
          engine::JobState::kWaitingDecision, engine::JobState::kSuspended,
          engine::JobState::kStopped, engine::JobState::kFailed})
      names.emplace_back(engine::ToString(state));
    names.emplace_back(kFinished);
    return names;
  }();
  return states;
}

JobWait judgeJob(const engine::ClusterSnapshot& snapshot, const JobGoal& goal,
                 const std::optional<engine::JobStatus>& seen) {
  using Verdict = JobWait::Verdict;
  const auto found = std::ranges::find(snapshot.jobs, goal.job, &engine::JobStatus::name);
  const bool isGone = found == snapshot.jobs.end();
  // Another job of the same name is not the one that the wait is for.
  const bool isOther =
      !isGone && seen && seen->started > 0 && found->started > 0 && seen->started != found->started;
  if (isGone || isOther) {
    const std::string text = fmt::format("job '{}' was stopped", goal.job);
    if (goal.state == engine::ToString(engine::JobState::kStopped) && seen)
      return {Verdict::kReached, text, std::nullopt};
    if (seen) return {Verdict::kCannot, text, std::nullopt};
    const auto missing = findJob(snapshot, goal.job);
    return {Verdict::kCannot, missing.error().message, std::nullopt};
  }
  const std::string text = describeProgress(*found, goal);
  if (isReached(*found, goal)) return {Verdict::kReached, text, *found};
  const std::string obstacle = obstacleOf(*found, goal);
  if (obstacle.empty()) return {Verdict::kGoesOn, text, *found};
  return {Verdict::kCannot, obstacle, *found};
}

Result<JobWait> awaitJob(Session& session, const JobGoal& goal, const JobWaitLimits& limits,
                         const std::function<void(const std::string&)>& progress) {
  using Clock = std::chrono::steady_clock;
  using std::chrono::milliseconds;
  const auto began = Clock::now();
  auto heard = began;
  JobWait last;
  for (;;) {
    const auto passed = std::chrono::duration_cast<milliseconds>(Clock::now() - began);
    const milliseconds left = limits.timeout ? *limits.timeout - passed : kAnswerTimeout;
    const std::string how = last.text.empty() ? "" : ": " + last.text;
    if (limits.isInterrupted()) return Timeout("interrupted" + how);
    if (left <= milliseconds(0))
      return Timeout(fmt::format("job '{}' is not there after {}{}", goal.job,
                                 formatSpan(static_cast<double>(limits.timeout->count()) / 1000),
                                 how));
    const auto snapshot = session.snapshot(std::min<milliseconds>(kAnswerTimeout, left));
    if (snapshot) {
      heard = Clock::now();
      JobWait now = judgeJob(*snapshot, goal, last.job);
      if (now.verdict != JobWait::Verdict::kGoesOn) return now;
      if (now.text != last.text) progress(now.text);
      last = std::move(now);
    } else if (!isOutOfReach(snapshot.error()) ||
               (!limits.timeout && Clock::now() - heard > limits.unreachable)) {
      return snapshot.error();
    }
    std::this_thread::sleep_for(limits.poll);
  }
}

Command jobWaitCommand() {
  return {{.verb = "job wait",
           .summary = "Wait until a job has made all of its steps, or until a step or state",
           .words = {{"JOB", "name of the job"}},
           .options = {{.name = "step",
                        .value = "N",
                        .help = "wait until the job has made this step",
                        .fallback = "the last step"},
                       {.name = "state",
                        .value = "STATE",
                        .help = fmt::format("wait for this state: {}",
                                            fmt::join(statesToWaitFor(), ", ")),
                        .choices = statesToWaitFor()},
                       {.name = "timeout",
                        .value = "TIME",
                        .help = "give up after 30s, 5m, 2h; a number alone is in seconds",
                        .fallback = "none"},
                       quietOption()},
           .notes = {"Exit codes: 0 the job is there; 1 it ended, failed or was stopped before, or "
                     "there is no such job; 3 the time is over, or the cluster cannot be reached. "
                     "Without --timeout the cluster may be out of reach for a minute."},
           .examples = {"tesseractl job wait gpt-mini", "tesseractl job wait gpt-mini --step 500",
                        "tesseractl job wait gpt-mini --state running --timeout 5m"}},
          runWait};
}

}  // namespace tessera::app
