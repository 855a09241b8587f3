// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The results of the experiment "consistency": one job trained several times, reconfigured at the
/// same step, once correctly and twice wrong on purpose (Tenplex, SOSP 2024, section 2.3, figure
/// 2). Plain values, for the command line and the panel.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/experiment/coverage.h"
#include "engine/model/at_change.h"
#include "ptc/base/result.h"

namespace tessera::engine {

/// What all runs of an experiment share.
struct ConsistencySetup {
  std::string model;
  std::string data;  // in words
  std::int64_t steps = 0, change_at = 0, global_batch = 0, sequence = 0;
  std::int64_t from = 2, to = 4;  // data-parallel ranks before and after the change
  std::int64_t num_samples = 0;   // of the pass
  std::int64_t held_out = 0;      // samples that no run trains on
  std::int64_t group = 0;         // samples of one value of ConsistencyRun::pass_losses
  std::int64_t seed = 0;
  double learning_rate = 0;
  friend bool operator==(const ConsistencySetup&, const ConsistencySetup&) = default;
};

/// The mean training loss of one step.
struct LossPoint {
  std::int64_t step = 0;
  std::int64_t samples = 0;  // trained on up to and with this step, repetitions counted
  double loss = 0;
  friend bool operator==(const LossPoint&, const LossPoint&) = default;
};

struct ConsistencyRun {
  AtChange way = AtChange::kKeep;
  bool is_reference = false;  // never reconfigured
  /// The step after which the mesh changed; nullopt: it did not.
  std::optional<std::int64_t> changed_after;
  std::int64_t batch_before = 0, batch_after = 0;  // samples per step
  /// The positions that the job read: before the change, and after it.
  std::vector<ReadStretch> read;
  std::vector<LossPoint> points;  // ascending steps
  /// Mean losses of the last state on each group of samples: the held-out ones, and those of the
  /// pass in its order, whether or not the run read them.
  std::vector<double> held_out_losses, pass_losses;
  double pause = 0;  // of the change, in seconds
  friend bool operator==(const ConsistencyRun&, const ConsistencyRun&) = default;
};

struct ConsistencyResult {
  ConsistencySetup setup;
  std::vector<ConsistencyRun> runs;
  double seconds = 0;  // duration
  double time = 0;     // of its end, seconds since 1970
  friend bool operator==(const ConsistencyResult&, const ConsistencyResult&) = default;

  /// nullptr if there is no such run.
  const ConsistencyRun* Find(AtChange way) const;
  const ConsistencyRun* reference() const;
};

/// "right", "position lost", "device batch kept", "never reconfigured".
std::string_view NameOf(const ConsistencyRun& run);
/// The same without blanks: "right", "lose_position", "keep_device_batch", "reference".
std::string_view KeyOf(const ConsistencyRun& run);

/// Replaces the loss of each point by the mean of those at most `window` samples before it on the
/// same side of `change_samples`, so that no loss after a change is smoothed into losses before it.
/// \pre window >= 1
std::vector<LossPoint> Smooth(std::span<const LossPoint> points, std::int64_t window,
                              std::int64_t change_samples);
/// Smooths with the change of the run and a window that fits its length. Points less than a window
/// after the change get the mean of that first window.
std::vector<LossPoint> SmoothCurve(const ConsistencyRun& run);

/// A run in numbers.
struct RunSummary {
  double loss_before = 0, loss_end = 0;  // means of the last quarter before the change and at the
                                         // end; before: of the whole where nothing changed
  Coverage coverage;
  /// The largest difference, with sign, of the smoothed losses from those of the right run after
  /// the same number of samples. nullopt for the right run itself.
  std::optional<double> largest_difference;
};
RunSummary Summarize(const ConsistencyRun& run, const ConsistencyResult& result);

/// Returns the largest relative difference of the losses of equal steps up to `last_step`.
/// \pre both have points
double LargestStepDifference(const ConsistencyRun& a, const ConsistencyRun& b,
                             std::int64_t last_step);

/// One object, all numbers. `indent` as nlohmann's, -1: one line.
std::string ToJson(const ConsistencyResult& result, int indent = -1);
/// \error kInvalidArgument naming the key that is missing or wrong
Result<ConsistencyResult> ParseConsistencyResult(std::string_view json);

}  // namespace tessera::engine
