// SPDX-License-Identifier: Apache-2.0
#include "engine/experiment/coverage.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace tessera::engine {

Result<Coverage> CoverageOf(std::span<const ReadStretch> stretches, std::int64_t num_samples) {
  if (num_samples < 1) return InvalidArgument(fmt::format("a pass of {} samples", num_samples));
  // The change in the number of stretches that cover a position, at each position where it changes.
  std::map<std::int64_t, std::int64_t> steps = {{0, 0}, {num_samples, 0}};
  for (const ReadStretch& stretch : stretches) {
    if (stretch.begin < 0 || stretch.end < stretch.begin) {
      return InvalidArgument(
          fmt::format("a stretch cannot be from {} to {}", stretch.begin, stretch.end));
    }
    ++steps[std::min(stretch.begin, num_samples)];
    --steps[std::min(stretch.end, num_samples)];
  }
  Coverage coverage;
  std::int64_t depth = 0;
  for (auto at = steps.begin(); at->first < num_samples; ++at) {
    depth += at->second;
    const std::int64_t count = std::next(at)->first - at->first;
    if (depth == 0) coverage.never_read += count;
    if (depth == 1) coverage.read_once += count;
    if (depth > 1) coverage.read_again += count;
  }
  return coverage;
}

}  // namespace tessera::engine
