// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/commands/clock_skew.h"

#include <fmt/format.h>

#include <algorithm>
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

void readClock(engine::Check& check, double now, double latency) {
  const auto skew = clockSkewOf(check, now, latency);
  if (!skew) return;
  const double apart = std::abs(skew->seconds);
  if (skew->isTolerable) {
    check.value = fmt::format("within {:.1f} s of this machine", std::max(0.1, apart));
    return;
  }
  check.verdict = engine::Check::Verdict::kWarning;
  check.value =
      fmt::format("{:.1f} s {} this machine", apart, skew->seconds > 0 ? "ahead of" : "behind");
  check.remedy = "timedatectl set-ntp true, on both";
}

}  // namespace tessera::app
