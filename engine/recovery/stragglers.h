// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Finds ranks that make their part of a step much slower than others with the same work. A step
/// takes as long as its slowest rank.

#include <span>
#include <vector>

#include "ptc/mesh.h"

namespace tessera::engine {

/// A rank is slow if its part takes this much longer than that of its peers,
inline constexpr double kSlowRatio = 1.5;
/// and at least these seconds longer: less is noise.
inline constexpr double kLeastSlow = 0.02;
/// A slow rank counts as slow until it is below this ratio.
inline constexpr double kFastRatio = 1.25;

struct SlowRank {
  ptc::DeviceId device;
  double seconds = 0;        // of its part of a step
  double peers_seconds = 0;  // the median of its peers
  friend bool operator==(const SlowRank&, const SlowRank&) = default;
};

/// `busy`: by rank, the seconds that it computes in a step, without waiting for others; 0: unknown.
/// The peers of a rank are the other ranks of its pipeline stage. `before`: devices that were slow.
/// Returns nothing while a rank is unknown.
std::vector<SlowRank> FindSlowRanks(const ptc::DeviceMesh& mesh, std::span<const double> busy,
                                    std::span<const SlowRank> before = {});

}  // namespace tessera::engine
