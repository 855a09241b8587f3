// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/commands/clock_skew.h"

#include <charconv>
#include <cmath>

namespace tessera::app {

std::optional<ClockSkew> clockSkewOf(const engine::Check& check, double now, double latency) {
  if (check.name != "clock") return std::nullopt;
  double clock = 0;
  const char* const end = check.value.data() + check.value.size();
  const auto [last, error] = std::from_chars(check.value.data(), end, clock);
  if (error != std::errc() || last != end || !std::isfinite(clock)) return std::nullopt;
  const double skew = clock - (now - latency / 2);
  return ClockSkew{skew, std::abs(skew) <= kMaxClockSkew + latency};
}

}  // namespace tessera::app
