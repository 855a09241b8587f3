// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// Waits until a job has made a step, is in a state or has ended, for `job wait`.

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/commands/session.h"
#include "engine/cluster/snapshot.h"

namespace tessera::app {

/// The states that a wait may name: those of jobs, and "finished", which is "paused" after the last
/// step.
const std::vector<std::string>& statesToWaitFor();

/// Without `step` and `state`: all of its steps are made.
struct JobGoal {
  std::string job;
  std::optional<std::int64_t> step = {};
  std::string state = {};
};

struct JobWait {
  enum class Verdict { kGoesOn, kReached, kCannot };
  Verdict verdict = Verdict::kGoesOn;
  std::string text;                      // "gpt is running, step 12 of 2000", or why it cannot
  std::optional<engine::JobStatus> job;  // as it was seen last
};

/// Where a job is on its way to `goal`.
/// \param seen the job as it was before; nullopt: it was not there
JobWait judgeJob(const engine::ClusterSnapshot& snapshot, const JobGoal& goal,
                 const std::optional<engine::JobStatus>& seen);

struct JobWaitLimits {
  std::optional<std::chrono::milliseconds> timeout = {};  // nullopt: none
  std::chrono::milliseconds poll = std::chrono::milliseconds(500);
  /// How long the registrar may be out of reach if there is no timeout. It may be restarting.
  std::chrono::milliseconds unreachable = std::chrono::seconds(60);
  std::function<bool()> isInterrupted = [] { return false; };
};

/// Waits for the goal. Calls `progress` with the text of each state of the job.
/// \return a verdict other than kGoesOn
/// \error kTimeout, also after an interrupt; kUnavailable if the registrar is out of reach;
///     others as Session::snapshot
Result<JobWait> awaitJob(Session& session, const JobGoal& goal, const JobWaitLimits& limits,
                         const std::function<void(const std::string&)>& progress);

}  // namespace tessera::app
