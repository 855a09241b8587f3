// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The experiment "consistency" on this machine: trains a job three times on a private cluster,
/// once right and in two wrong ways, and changes its number of devices during each run. The command
/// line and the panel's lesson use it.

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "engine/experiment/consistency.h"
#include "ptc/base/result.h"

namespace tessera::app {

/// The defaults show all effects in half a minute on two cores. With each of five seeds that were
/// tried, every effect was larger than three standard errors.
struct ConsistencyOptions {
  std::string model = "gpt-nano";
  std::int64_t steps = 400;  // of a run with a constant global batch
  std::int64_t changeAt = 200;
  std::int64_t globalBatch = 4;
  std::int64_t sequence = 32;  // tokens per sample
  std::int64_t from = 1, to = 4;
  std::int64_t seed = 1;
  double learningRate = 1e-3;          // constant after the warm-up
  std::int64_t heldOut = 1024;         // samples
  std::vector<std::string> data = {};  // empty: text found on this machine
  bool reference = false;              // a fourth run that is never reconfigured
};

/// \error kInvalidArgument naming the option, its value and the limit
Status checkOptions(const ConsistencyOptions& options);

/// Progress of an experiment. The `fresh` points of all reports of a run form its curve.
struct ConsistencyProgress {
  enum class Doing { Preparing, Training, Evaluating, Ending };
  Doing doing = Doing::Preparing;
  int run = 0, runs = 0;                // counted from 0
  engine::ConsistencyRun present = {};  // without points
  std::int64_t step = 0, steps = 0;     // of this run
  std::optional<double> loss = {};      // of the last step
  std::optional<double> secondsLeft = {};
  std::vector<engine::LossPoint> fresh = {};  // points of this run since the last report
};

struct ConsistencyHooks {
  /// Called several times a second on the thread of runConsistency.
  std::function<void(const ConsistencyProgress&)> progress = {};
  std::stop_token stop = {};
};

/// Blocks until all runs are done. Uses a cluster of its own on the loopback only, and leaves
/// neither processes nor files behind, however it ends.
/// \error kCancelled after a stop; of checkOptions, the text and the cluster; of a run, with its
///     name
Result<engine::ConsistencyResult> runConsistency(const ConsistencyOptions& options,
                                                 const ConsistencyHooks& hooks);

}  // namespace tessera::app
