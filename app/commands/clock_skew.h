// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// Compares a node's clock with the clock of this machine, because a node cannot check its own
/// clock.

#include <optional>

#include "engine/cluster/snapshot.h"

namespace tessera::app {

/// Seconds. Clocks are used for labels only; clocks that differ by more than this put events and
/// plots into the wrong order.
inline constexpr double kMaxClockSkew = 1.0;

struct ClockSkew {
  double seconds = 0;       // positive: the node's clock is ahead
  bool isTolerable = true;  // the latency of the answer does not count as skew
};

/// Evaluates the check "clock" of a node's doctor.
/// \param now this machine's wall clock at the moment of the answer
/// \param latency of the round trip, s; the node read its clock within it
/// \return nullopt for another check, or for a value that is not a time
std::optional<ClockSkew> clockSkewOf(const engine::Check& check, double now, double latency);

/// Replaces the time of the check "clock" by what it means: how far that clock is from the clock of
/// this machine. A skew that is not tolerable is a warning with a remedy. Other checks stay.
void readClock(engine::Check& check, double now, double latency);

}  // namespace tessera::app
