// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// How often the samples of a pass were read, computed from the positions of a job in its data.

#include <cstdint>
#include <span>

#include "ptc/base/result.h"

namespace tessera::engine {

/// Positions [begin, end) in the order of all passes: position p is sample p mod num_samples of the
/// order of pass p / num_samples.
struct ReadStretch {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  friend bool operator==(const ReadStretch&, const ReadStretch&) = default;
};

/// Of the first pass of a run.
struct Coverage {
  std::int64_t read_once = 0;
  std::int64_t read_again = 0;  // samples that were read more than once
  std::int64_t never_read = 0;
  friend bool operator==(const Coverage&, const Coverage&) = default;
};

/// \error kInvalidArgument for a stretch that ends before it begins or begins below 0, or for less
///     than one sample per pass
Result<Coverage> CoverageOf(std::span<const ReadStretch> stretches, std::int64_t num_samples);

}  // namespace tessera::engine
