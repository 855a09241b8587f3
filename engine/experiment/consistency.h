// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// What the experiment "consistency" found: one job trained several times, reconfigured at the same
/// step, right and in two ways that are wrong on purpose (Tenplex, SOSP 2024, section 2.3, figure
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

/// What every run of an experiment shares.
struct ConsistencySetup {
  std::string model;
  std::string data;  // in words
  std::int64_t steps = 0, change_at = 0, global_batch = 0, sequence = 0;
  std::int64_t from = 2, to = 4;  // data-parallel ranks before and after the change
  std::int64_t num_samples = 0;   // of the pass
  std::int64_t held_out = 0;      // samples that nobody trains on
  std::int64_t group = 0;         // samples of one value of ConsistencyRun::pass_losses
  std::int64_t seed = 0;
  double learning_rate = 0;
  friend bool operator==(const ConsistencySetup&, const ConsistencySetup&) = default;
};

/// The mean training loss of one step.
struct LossPoint {
  std::int64_t step = 0;
  std::int64_t samples = 0;  // trained on up to this step and with it, each time counted
  double loss = 0;
  friend bool operator==(const LossPoint&, const LossPoint&) = default;
};

struct ConsistencyRun {
  AtChange way = AtChange::kKeep;
  bool is_reference = false;  // never reconfigured
  /// The step after which the job was on the other mesh; none: it never was.
  std::optional<std::int64_t> changed_after;
  std::int64_t batch_before = 0, batch_after = 0;  // samples a step
  /// As the job's own cursor says, before the change and at the end.
  std::vector<ReadStretch> read;
  std::vector<LossPoint> points;  // ascending steps
  /// Mean losses of the last state on group after group of samples: of those that nobody trains on,
  /// and of the pass in its order, whatever the run read of it.
  std::vector<double> held_out_losses, pass_losses;
  double pause = 0;  // seconds that the change held the job up
  friend bool operator==(const ConsistencyRun&, const ConsistencyRun&) = default;
};

struct ConsistencyResult {
  ConsistencySetup setup;
  std::vector<ConsistencyRun> runs;
  double seconds = 0;  // that it took
  double time = 0;     // when it ended, seconds since 1970
  friend bool operator==(const ConsistencyResult&, const ConsistencyResult&) = default;

  /// nullptr: there is no such run.
  const ConsistencyRun* Find(AtChange way) const;
  const ConsistencyRun* reference() const;
};

/// "right", "position lost", "device batch kept", "never reconfigured".
std::string_view NameOf(const ConsistencyRun& run);
/// The same without blanks: "right", "lose_position", "keep_device_batch", "reference".
std::string_view KeyOf(const ConsistencyRun& run);

/// The points with the loss of each replaced by the mean of those that lie at most `window` samples
/// before it, on the same side of `change_samples`: what comes after a change is never smoothed
/// into what was before. \pre window >= 1
std::vector<LossPoint> Smooth(std::span<const LossPoint> points, std::int64_t window,
                              std::int64_t change_samples);
/// As Smooth for the run's own change and a window that fits its length; what lies less than a
/// window behind the change has the mean of that first window.
std::vector<LossPoint> SmoothCurve(const ConsistencyRun& run);

/// A run in numbers.
struct RunSummary {
  double loss_before = 0, loss_end = 0;  // means of the last quarter before the change and at the
                                         // end; before: of the whole where nothing changed
  Coverage coverage;
  /// Largest difference of the smoothed losses from those of the right run, after as many samples;
  /// with sign. None for the right run itself.
  std::optional<double> largest_difference;
};
RunSummary Summarize(const ConsistencyRun& run, const ConsistencyResult& result);

/// Largest relative difference of the losses of equal steps up to `last_step`. \pre both have
/// points
double LargestStepDifference(const ConsistencyRun& a, const ConsistencyRun& b,
                             std::int64_t last_step);

/// One object, all numbers. `indent` as nlohmann's, -1: one line.
std::string ToJson(const ConsistencyResult& result, int indent = -1);
/// \error kInvalidArgument naming the key that is missing or wrong
Result<ConsistencyResult> ParseConsistencyResult(std::string_view json);

}  // namespace tessera::engine
