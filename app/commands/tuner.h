// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// Runs the configurations of a job with the best estimates for some steps each, for `job tune` and
/// for the panel.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "app/commands/session.h"
#include "app/commands/tuning.h"

namespace tessera::app {

/// The first steps of a configuration are slower, because memory and caches are cold.
inline constexpr std::int64_t kTuneWarmUp = 2;

struct TuneOptions {
  std::vector<ptc::DeviceId> devices = {};  // empty: those of the job
  std::int64_t top = 4;                     // configurations to try
  std::int64_t steps = 12;                  // > kTuneWarmUp; to run each
  bool keepsBest = true;                    // false: the job returns to its configuration
};

/// What tuneJob() does now: it runs `place`, the configuration `number` of `of`, counted from 1.
/// Number 0: the user stopped it, and the job returns to `place`.
struct TuneActivity {
  std::int64_t number = 0, of = 0;
  Configuration place = {};
};
/// "2 of 4: dp=2,tp=2,pp=1 on n0g0,…", in one line.
std::string describeActivity(const TuneActivity& activity);

/// Called on the thread of tuneJob().
struct TuneWatch {
  std::function<bool()> isStopped;  // by the user
  /// Current activity, with the measurements so far.
  std::function<void(const TuneActivity& activity, const std::vector<Measurement>& soFar)> say;
};

struct TuneResult {
  std::vector<Measurement> measurements = {};
  Configuration kept = {};      // that the job was moved to at the end
  bool isBack = false;          // `kept` is the original configuration
  bool stopped = false;         // by the user
  Status settled = OkStatus();  // the error of that last move
};

/// Each change is an ordinary transaction. Blocks until the job has its last configuration.
/// \error kFailedPrecondition if the job does not run; those of a proposal. Nothing was changed.
Result<TuneResult> tuneJob(Session& session, const std::string& name, TuneOptions options,
                           const TuneWatch& watch);

}  // namespace tessera::app
