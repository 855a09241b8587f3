// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The interface through which the lesson on consistent data starts its runs. app/lesson_runner
/// implements it, because ui does not know the agents.

#include <functional>
#include <optional>
#include <vector>

#include "engine/experiment/consistency.h"
#include "ptc/base/result.h"

namespace tessera::ui {

/// The progress of the runs.
struct LessonProgress {
  enum class Doing { Preparing, Training, Evaluating, Ending };
  Doing doing = Doing::Preparing;
  int run = 0, runs = 0;                // the current run, from 0; number of runs
  engine::ConsistencyRun present = {};  // the current run, without points
  std::int64_t step = 0, steps = 0;     // of the current run
  std::optional<double> secondsLeft = {};
  std::vector<engine::LossPoint> fresh = {};  // of the current run, since the last call
};

/// Lives on the GUI thread and calls back there, later. No callback runs after `done` or after the
/// runner was destroyed.
class ConsistencyRunner {
 public:
  virtual ~ConsistencyRunner() = default;

  /// Returns the last result stored on this machine; nothing if there is none or it is unreadable.
  virtual std::optional<engine::ConsistencyResult> last() const = 0;
  /// Starts the runs.
  /// \pre no runs are in progress
  virtual void start(std::function<void(LessonProgress)> progress,
                     std::function<void(Result<engine::ConsistencyResult>)> done) = 0;
  /// Cancels the runs; `done` receives kCancelled once everything has ended. Has no effect
  /// otherwise.
  virtual void cancel() = 0;
};

}  // namespace tessera::ui
