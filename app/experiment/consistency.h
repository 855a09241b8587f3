// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The experiment "consistency" on this machine: a cluster of its own, the job trained right and in
/// the two wrong ways, each moved to the other number of devices while it trains. Used by the
/// command line and by the panel's lesson.

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "engine/experiment/consistency.h"
#include "ptc/base/result.h"

namespace tessera::app {

/// Defaults are what shows all effects, whatever the seed, in half a minute on two cores: tried with
/// five seeds, each is more than three standard errors.
struct ConsistencyOptions {
  std::string model = "gpt-nano";
  std::int64_t steps = 400;  // of a run whose global batch stays
  std::int64_t changeAt = 200;
  std::int64_t globalBatch = 4;
  std::int64_t sequence = 32;  // tokens of a sample
  std::int64_t from = 1, to = 4;
  std::int64_t seed = 1;
  double learningRate = 1e-3;          // constant after the warm-up
  std::int64_t heldOut = 1024;         // samples
  std::vector<std::string> data = {};  // empty: text found on this machine
  bool reference = false;              // a fourth run that is never reconfigured
};

/// \error kInvalidArgument naming the option, its value and the limit
Status checkOptions(const ConsistencyOptions& options);

/// Where an experiment is. The points of all runs up to now together make their curves.
struct ConsistencyProgress {
  enum class Doing { Preparing, Training, Evaluating, Ending };
  Doing doing = Doing::Preparing;
  int run = 0, runs = 0;                // counted from 0
  engine::ConsistencyRun present = {};  // without points
  std::int64_t step = 0, steps = 0;     // of this run
  std::optional<double> loss = {};      // of the last step
  std::optional<double> secondsLeft = {};
  std::vector<engine::LossPoint> fresh = {};  // points of this run that were not told before
};

struct ConsistencyHooks {
  /// Several times a second, on the thread that called runConsistency.
  std::function<void(const ConsistencyProgress&)> progress = {};
  std::stop_token stop = {};
};

/// Blocks until all runs are made. Touches no cluster but its own, binds to the loopback only, and
/// leaves neither process nor file, however it ends.
/// \error kCancelled after a stop; of checkOptions, the text, the cluster; of a run, with its name
Result<engine::ConsistencyResult> runConsistency(const ConsistencyOptions& options,
                                                 const ConsistencyHooks& hooks);

}  // namespace tessera::app
