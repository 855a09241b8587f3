// SPDX-License-Identifier: Apache-2.0
#include "engine/experiment/consistency.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ptc/base/check.h"

namespace tessera::engine {
namespace {

constexpr std::int64_t kWindowsInARun = 16;

/// Returns the samples of the run up to its change; beyond all points if there was none.
std::int64_t ChangeSamples(const ConsistencyRun& run) {
  return run.changed_after ? *run.changed_after * run.batch_before
                           : std::numeric_limits<std::int64_t>::max();
}

double MeanLoss(std::span<const LossPoint> points) {
  double sum = 0;
  for (const LossPoint& point : points) sum += point.loss;
  return points.empty() ? 0 : sum / static_cast<double>(points.size());
}

std::span<const LossPoint> LastQuarter(std::span<const LossPoint> points) {
  return points.last(points.empty() ? 0 : std::max<std::size_t>(1, points.size() / 4));
}

/// Returns the loss of the curve after `samples`, linear between its points; nullopt outside.
std::optional<double> At(std::span<const LossPoint> curve, std::int64_t samples) {
  const auto right = std::lower_bound(
      curve.begin(), curve.end(), samples,
      [](const LossPoint& point, std::int64_t value) { return point.samples < value; });
  if (right == curve.end()) return std::nullopt;
  if (right->samples == samples) return right->loss;
  if (right == curve.begin()) return std::nullopt;
  const LossPoint& left = *std::prev(right);
  const double share = static_cast<double>(samples - left.samples) /
                       static_cast<double>(right->samples - left.samples);
  return left.loss + share * (right->loss - left.loss);
}

std::int64_t WindowOf(const ConsistencyRun& run) {
  return run.points.empty() ? 1
                            : std::max<std::int64_t>(1, run.points.back().samples / kWindowsInARun);
}

/// Returns the largest difference of the smoothed curves where both are means of a whole window.
std::optional<double> LargestDifference(const ConsistencyRun& run, const ConsistencyRun& right) {
  const auto mine = SmoothCurve(run), other = SmoothCurve(right);
  const std::int64_t begin =
      std::min(ChangeSamples(run), ChangeSamples(right)) + std::max(WindowOf(run), WindowOf(right));
  std::optional<double> largest;
  for (const LossPoint& point : mine) {
    const auto there = point.samples > begin ? At(other, point.samples) : std::nullopt;
    if (!there) continue;
    const double difference = point.loss - *there;
    if (!largest || std::abs(difference) > std::abs(*largest)) largest = difference;
  }
  return largest;
}

}  // namespace

const ConsistencyRun* ConsistencyResult::Find(AtChange way) const {
  const auto run = std::find_if(runs.begin(), runs.end(), [way](const ConsistencyRun& r) {
    return r.way == way && !r.is_reference;
  });
  return run == runs.end() ? nullptr : &*run;
}

const ConsistencyRun* ConsistencyResult::reference() const {
  const auto run = std::find_if(runs.begin(), runs.end(),
                                [](const ConsistencyRun& r) { return r.is_reference; });
  return run == runs.end() ? nullptr : &*run;
}

std::string_view NameOf(const ConsistencyRun& run) {
  if (run.is_reference) return "never reconfigured";
  switch (run.way) {
    case AtChange::kKeep:
      return "right";
    case AtChange::kLosePosition:
      return "position lost";
    case AtChange::kKeepDeviceBatch:
      return "device batch kept";
  }
  return "right";
}

std::string_view KeyOf(const ConsistencyRun& run) {
  if (run.is_reference) return "reference";
  return run.way == AtChange::kKeep ? "right" : ToString(run.way);
}

std::vector<LossPoint> Smooth(std::span<const LossPoint> points, std::int64_t window,
                              std::int64_t change_samples) {
  TESSERA_DCHECK(window >= 1);
  std::vector<LossPoint> smooth(points.begin(), points.end());
  std::size_t first = 0;
  double sum = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const bool is_new_part =
        i > 0 && points[i].samples > change_samples && points[i - 1].samples <= change_samples;
    if (is_new_part) {
      first = i;
      sum = 0;
    }
    sum += points[i].loss;
    while (points[i].samples - points[first].samples >= window) sum -= points[first++].loss;
    smooth[i].loss = sum / static_cast<double>(i - first + 1);
  }
  return smooth;
}

std::vector<LossPoint> SmoothCurve(const ConsistencyRun& run) {
  if (run.points.empty()) return {};
  const std::int64_t change = ChangeSamples(run), window = WindowOf(run);
  std::vector<LossPoint> smooth = Smooth(run.points, window, change);
  // Means of few steps vary too much: after the change the curve begins with a whole window.
  const auto after = std::find_if(smooth.begin(), smooth.end(),
                                  [&](const LossPoint& point) { return point.samples > change; });
  const auto full = std::find_if(
      after, smooth.end(), [&](const LossPoint& point) { return point.samples > change + window; });
  if (full != smooth.end()) {
    std::for_each(after, full, [&](LossPoint& point) { point.loss = full->loss; });
  }
  return smooth;
}

RunSummary Summarize(const ConsistencyRun& run, const ConsistencyResult& result) {
  RunSummary summary;
  const std::span<const LossPoint> points = run.points;
  const auto change = std::find_if(points.begin(), points.end(), [&](const LossPoint& point) {
    return run.changed_after && point.step > *run.changed_after;
  });
  const auto before = points.first(static_cast<std::size_t>(change - points.begin()));
  summary.loss_before = MeanLoss(LastQuarter(before));
  summary.loss_end =
      MeanLoss(LastQuarter(change == points.end() ? points : points.subspan(before.size())));
  if (const auto coverage = CoverageOf(run.read, result.setup.num_samples)) {
    summary.coverage = *coverage;
  }
  const ConsistencyRun* right = result.Find(AtChange::kKeep);
  if (right == nullptr || right == &run) return summary;
  summary.largest_difference = LargestDifference(run, *right);
  return summary;
}

double LargestStepDifference(const ConsistencyRun& a, const ConsistencyRun& b,
                             std::int64_t last_step) {
  double largest = 0;
  auto other = b.points.begin();
  for (const LossPoint& point : a.points) {
    while (other != b.points.end() && other->step < point.step) ++other;
    if (other == b.points.end() || point.step > last_step) break;
    if (other->step != point.step) continue;
    const double scale = std::max({std::abs(point.loss), std::abs(other->loss), 1e-12});
    largest = std::max(largest, std::abs(point.loss - other->loss) / scale);
  }
  return largest;
}

}  // namespace tessera::engine
