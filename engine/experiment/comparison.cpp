// SPDX-License-Identifier: Apache-2.0
#include "engine/experiment/comparison.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace tessera::engine {
namespace {

double Mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

bool Holds(const ReadStretch& outer, const ReadStretch& inner) {
  return outer.begin <= inner.begin && inner.end <= outer.end;
}

bool Meet(const ReadStretch& a, const ReadStretch& b) { return a.begin < b.end && b.begin < a.end; }

/// Whether a group of the first pass belongs to the samples.
bool IsOf(Samples samples, const ReadStretch& group, const ConsistencyRun& run) {
  if (samples == Samples::kReadLast) {
    return run.changed_after && !run.read.empty() && Holds(run.read.back(), group);
  }
  return std::none_of(run.read.begin(), run.read.end(),
                      [&](const ReadStretch& read) { return Meet(read, group); });
}

}  // namespace

std::optional<Difference> DifferenceOn(Samples samples, const ConsistencyRun& run,
                                       const ConsistencyRun& right, const ConsistencySetup& setup) {
  const bool is_held_out = samples == Samples::kHeldOut;
  const auto& mine = is_held_out ? run.held_out_losses : run.pass_losses;
  const auto& other = is_held_out ? right.held_out_losses : right.pass_losses;
  if (mine.size() != other.size()) return std::nullopt;
  std::vector<double> differences;
  for (std::size_t i = 0; i < mine.size(); ++i) {
    const auto begin = static_cast<std::int64_t>(i) * setup.group;
    if (!is_held_out && !IsOf(samples, {begin, begin + setup.group}, run)) continue;
    differences.push_back(mine[i] - other[i]);
  }
  if (differences.size() < 2) return std::nullopt;
  const double mean = Mean(differences), n = static_cast<double>(differences.size());
  double squares = 0;
  for (const double each : differences) squares += (each - mean) * (each - mean);
  return Difference{mean, std::sqrt(squares / (n - 1) / n)};
}

Verdict Judge(const std::optional<Difference>& difference) {
  if (!difference || !(std::abs(difference->value) > 2 * difference->error)) {
    return Verdict::kNotVisible;
  }
  return difference->value < 0 ? Verdict::kBelow : Verdict::kAbove;
}

std::optional<double> HeldOutLoss(const ConsistencyRun& run) {
  if (run.held_out_losses.empty()) return std::nullopt;
  return Mean(run.held_out_losses);
}

}  // namespace tessera::engine
