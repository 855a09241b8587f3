// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// Judges a node's clock by this machine's. A node cannot judge its own clock.

#include <optional>

#include "engine/cluster/snapshot.h"

namespace tessera::app {

/// Seconds. Nothing depends on clocks but labels; clocks that differ by more than this disturb the
/// order of events and plots.
inline constexpr double kMaxClockSkew = 1.0;

struct ClockSkew {
  double seconds = 0;       // positive: the node's clock is ahead
  bool isTolerable = true;  // the latency of the answer does not count as skew
};

/// What the check "clock" of a node's doctor says. \param now this machine's wall clock at the
/// moment of the answer \param latency of the round trip, s; the node read its clock within it
/// \return nullopt for another check, or a value that is no time
std::optional<ClockSkew> clockSkewOf(const engine::Check& check, double now, double latency);

}  // namespace tessera::app
