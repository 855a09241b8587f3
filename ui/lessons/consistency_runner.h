// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// What the lesson on consistent data asks to be run. The panel knows no agent: app/lesson_runner
/// implements this.

#include <functional>
#include <optional>
#include <vector>

#include "engine/experiment/consistency.h"
#include "ptc/base/result.h"

namespace tessera::ui {

/// How far the runs are.
struct LessonProgress {
  enum class Doing { Preparing, Training, Evaluating, Ending };
  Doing doing = Doing::Preparing;
  int run = 0, runs = 0;                // the one at hand, counted from 0; how many there are
  engine::ConsistencyRun present = {};  // without points
  std::int64_t step = 0, steps = 0;     // of it
  std::optional<double> secondsLeft = {};
  std::vector<engine::LossPoint> fresh = {};  // of it, not told before
};

/// Lives on the GUI thread, and calls back there, later; after `done` or the end of the runner
/// nothing comes any more.
class ConsistencyRunner {
 public:
  virtual ~ConsistencyRunner() = default;

  /// What was found last on this machine; none: nothing yet, or it cannot be read.
  virtual std::optional<engine::ConsistencyResult> last() const = 0;
  /// \pre nothing runs
  virtual void start(std::function<void(LessonProgress)> progress,
                     std::function<void(Result<engine::ConsistencyResult>)> done) = 0;
  /// `done` comes with kCancelled once all is ended. Nothing where nothing runs.
  virtual void cancel() = 0;
};

}  // namespace tessera::ui
