// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/commands/job_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "app/commands/proposal.h"
#include "app/commands/terminal.h"
#include "app/commands/units.h"
#include "ptc/base/counted.h"

namespace tessera::app {
namespace {

std::string orDash(std::string text) { return text.empty() ? "-" : std::move(text); }

std::string spanOrDash(std::optional<double> length) {
  return length ? formatSpan(*length) : "-";
}

/// "survives", "n1 would lose 18.0 MiB".
std::string lossOfNode(const std::optional<engine::Survival>& survival) {
  if (!survival) return "-";
  if (survival->of_any_node()) return "survives";
  return fmt::format("n{} would lose {}", survival->node, formatBytes(survival->bytes));
}

/// What is true of some jobs only, a line for each.
std::string jobNotes(const engine::ClusterSnapshot& snapshot, bool isWide) {
  std::string text;
  for (const engine::JobStatus& job : snapshot.jobs)
    if (!job.command.empty())
      text += fmt::format("{}: {}runs `{}`\n", job.name, job.model.empty() ? "" : job.model + ", ",
                          job.command);
  for (const engine::JobStatus& job : snapshot.jobs)
    if (job.survival && !isWide)  // a wide table has a column for it
      text += fmt::format("{}: {}\n", job.name, describeSurvival(*job.survival));
  for (const engine::JobStatus& job : snapshot.jobs)
    if (!job.at_change.empty())
      text += fmt::format("{}: wrong on purpose: it {}\n", job.name, job.at_change);
  for (const engine::JobStatus& job : snapshot.jobs)
    if (job.snapshots.every.is_on() || job.snapshots.step || !job.snapshots.problem.empty())
      text += fmt::format("{}: {}\n", job.name, describeSnapshots(job.snapshots));
  for (const engine::JobStatus& job : snapshot.jobs)
    if (const std::string checkpoints = describeCheckpoints(job.checkpoints); !checkpoints.empty())
      text += fmt::format("{}: {}\n", job.name, checkpoints);
  for (const engine::JobStatus& job : snapshot.jobs)
    if (!job.reason.empty()) text += fmt::format("{}: {}\n", job.name, job.reason);
  return text;
}

}  // namespace

std::optional<double> ageOf(const engine::ClusterSnapshot& snapshot, const engine::JobStatus& job) {
  if (job.started <= 0 || snapshot.time <= 0) return std::nullopt;
  return std::max(snapshot.time - job.started, 0.0);
}

std::optional<double> secondsTo(const engine::JobStatus& job, std::int64_t step) {
  const bool trains = job.state == engine::JobState::kRunning && job.step_seconds;
  if (!trains || step <= job.step) return std::nullopt;
  return static_cast<double>(step - job.step) * *job.step_seconds;
}

std::optional<double> secondsLeft(const engine::JobStatus& job) {
  return secondsTo(job, job.max_steps);
}

std::string ownerOf(const engine::JobStatus& job) {
  // "laptop: tesseractl, lena@lab3": the name of the key, the program, the user.
  const auto comma = job.owner.rfind(", ");
  return comma == std::string::npos ? job.owner : job.owner.substr(comma + 2);
}

std::string progressOf(const engine::JobStatus& job) {
  std::string text = fmt::format("step {}", job.step);
  if (job.max_steps > 0) text += fmt::format(" of {}", job.max_steps);
  if (const auto left = secondsLeft(job)) text += fmt::format(", about {} left", formatSpan(*left));
  return text;
}

std::string describeSnapshots(const engine::SnapshotStatus& snapshots) {
  const engine::SnapshotEvery every = snapshots.every;
  std::string text = every.steps > 0     ? fmt::format("snapshot every {} steps", every.steps)
                     : every.seconds > 0 ? fmt::format("snapshot every {} s", every.seconds)
                     : snapshots.step    ? std::string("no further snapshots, kept")
                                         : std::string("no snapshot");
  if (snapshots.step) {
    text += fmt::format(": step {}, {} on {}", *snapshots.step, formatBytes(snapshots.bytes),
                        Counted(snapshots.num_nodes, "node"));
    if (snapshots.num_nodes == 1) text += " (does not survive its loss)";
    if (snapshots.seconds > 0) text += ", taken in " + formatSeconds(snapshots.seconds);
  } else if (every.is_on()) {
    text += ": none";
  }
  if (snapshots.forecast.bytes > 0)
    text += fmt::format(", up to {} on n{} while the next is taken",
                        formatBytes(snapshots.forecast.peak_bytes), snapshots.forecast.peak_node);
  if (!snapshots.problem.empty()) text += "; the last was given up: " + snapshots.problem;
  return text;
}

std::string describeCheckpoints(const engine::CheckpointStatus& checkpoints) {
  std::string text;
  const auto add = [&text](const std::string& part) { text += (text.empty() ? "" : "; ") + part; };
  if (checkpoints.step)
    add(fmt::format("checkpoint of step {}: {}", *checkpoints.step, checkpoints.path));
  if (const auto& schedule = checkpoints.schedule; schedule.every.is_on())
    add(fmt::format("saved every {}{} in {}", engine::ToString(schedule.every),
                    schedule.every.steps > 0 ? " steps" : "", schedule.folder));
  if (checkpoints.is_saving)
    add(checkpoints.total == 0
            ? std::string("one is being saved")
            : fmt::format("one is being saved, {} of {}", formatBytes(checkpoints.done),
                          formatBytes(checkpoints.total)));
  if (!checkpoints.problem.empty()) add("the last was not saved: " + checkpoints.problem);
  return text;
}

std::string jobTable(const engine::ClusterSnapshot& snapshot, bool isWide) {
  std::vector<std::vector<std::string>> rows = {{"job", "state", "step", "loss", "tokens/s",
                                                 "s/step", "mesh", "options", "age", "left",
                                                 "owner"}};
  if (isWide)
    for (const char* more : {"GPUs", "epoch", "layout", "loss of a node"})
      rows[0].emplace_back(more);
  for (const engine::JobStatus& job : snapshot.jobs) {
    const bool isKnown = job.state != engine::JobState::kUnknown;
    rows.push_back({job.name, paintState(engine::ToString(job.state)),
                    isKnown ? std::to_string(job.step) : "-",
                    job.loss ? fmt::format("{:.4f}", *job.loss) : "-",
                    job.tokens_per_second ? fmt::format("{:.0f}", *job.tokens_per_second) : "-",
                    job.step_seconds ? fmt::format("{:.3f}", *job.step_seconds) : "-",
                    job.devices.empty() ? "-" : ptc::ToString(job.mesh),
                    isKnown ? orDash(engine::ToString(job.options)) : "-",
                    spanOrDash(ageOf(snapshot, job)), spanOrDash(secondsLeft(job)),
                    orDash(ownerOf(job))});
    if (!isWide) continue;
    for (std::string& more : std::vector<std::string>{
             job.devices.empty() ? "-" : std::to_string(job.devices.size()),
             std::to_string(job.epoch), orDash(job.layout_hash), lossOfNode(job.survival)})
      rows.back().push_back(std::move(more));
  }
  return formatTable(rows, {2, 3, 4, 5, 8, 9, 11, 12}) + jobNotes(snapshot, isWide);
}

}  // namespace tessera::app
