// SPDX-License-Identifier: Apache-2.0
#include "engine/search/why.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/search/fit.h"
#include "engine/search/propose.h"
#include "ptc/base/counted.h"

namespace tessera::engine {
namespace {

std::string Label(const Candidate& candidate) {
  return ShortText(candidate.mesh, candidate.options);
}

std::string SecondsText(double seconds) {
  return seconds < 1 ? fmt::format("{:.0f} ms", 1e3 * seconds) : fmt::format("{:.2f} s", seconds);
}

std::string MovesText(std::int64_t bytes) {
  return bytes == 0 ? "moves nothing" : "moves " + BytesText(bytes);
}

/// "1.6 times as fast as now", "7 % faster than now".
std::string AgainstNow(double now, double then) {
  const double ratio = now / then;
  if (ratio >= 1.5) return fmt::format("{:.1f} times as fast as now", ratio);
  if (ratio > 1 + kEqualSpeed) return fmt::format("{:.0f} % faster than now", 100 * (ratio - 1));
  if (ratio >= 1 - kEqualSpeed) return "as fast as now";
  return fmt::format("{:.0f} % slower than now", 100 * (1 / ratio - 1));
}

bool IsSlower(double now, double then) { return now / then < 1 - kEqualSpeed; }

/// The fastest other configuration that fits, or nullptr.
const Candidate* RivalOf(const std::vector<Candidate>& candidates) {
  const Candidate* rival = nullptr;
  for (const Candidate& other : candidates) {
    if (other.recommended || !other.fits()) continue;
    if (!rival || other.step_seconds < rival->step_seconds) rival = &other;
  }
  return rival;
}

/// Returns the advantage and the disadvantage of the best other configuration. Its speed is
/// compared with `now` if the speed of `chosen` is and the texts differ, else with `chosen`.
std::string RivalText(const Candidate& chosen, const Candidate& rival, std::optional<double> now) {
  const double gain = chosen.step_seconds / rival.step_seconds - 1;
  const bool is_equal = std::abs(gain) < kSameSpeed;
  const bool is_told =
      now && AgainstNow(*now, rival.step_seconds) != AgainstNow(*now, chosen.step_seconds);
  const std::string speed =
      is_equal  ? "as fast"
      : is_told ? AgainstNow(*now, rival.step_seconds)
      : gain > 0
          ? fmt::format("{:.0f} % faster", 100 * gain)
          : fmt::format("{:.0f} % slower", 100 * (rival.step_seconds / chosen.step_seconds - 1));
  if (gain <= 0) {
    return is_equal
               ? fmt::format("{} is as fast and {}", Label(rival), MovesText(rival.moved_bytes))
               : fmt::format("next is {}, {}", Label(rival), speed);
  }
  const std::string but =
      rival.idle.size() > chosen.idle.size()
          ? fmt::format("leaves {} idle", Counted(std::ssize(rival.idle), "device"))
          : MovesText(rival.moved_bytes);
  return fmt::format("{} would be {} but {}", Label(rival), speed, but);
}

}  // namespace

std::string IdleText(const std::vector<ptc::DeviceId>& idle) {
  constexpr std::size_t kMostNames = 8;
  if (idle.size() > kMostNames) return fmt::format("{} devices stay idle", idle.size());
  std::string names;
  for (std::size_t i = 0; i < idle.size(); ++i) {
    if (i > 0) names += i + 1 == idle.size() ? " and " : ", ";
    names += ptc::ToString(idle[i]);
  }
  return names + (idle.size() == 1 ? " stays idle" : " stay idle");
}

std::string WhyText(const std::vector<Candidate>& candidates, std::optional<double> now,
                    bool keeps) {
  const auto chosen = std::find_if(candidates.begin(), candidates.end(),
                                   [](const Candidate& c) { return c.recommended; });
  if (chosen == candidates.end()) return "";
  const bool known = chosen->step_seconds > 0;
  const Candidate* const rival = RivalOf(candidates);
  std::string text = Label(*chosen);
  if (chosen->current) {
    // One that leaves more devices idle is no better use of them, even if it is faster.
    const bool is_beaten = std::any_of(candidates.begin(), candidates.end(), [&](const auto& c) {
      return c.fits() && c.idle.size() <= chosen->idle.size() &&
             IsSlower(c.step_seconds, chosen->step_seconds);
    });
    text += known && !is_beaten ? " stays: no other configuration is estimated to be clearly faster"
                                : " stays: nothing moves";
  } else if (!known) {
    text += keeps ? " keeps tp and pp, and " + MovesText(chosen->moved_bytes)
            : now ? fmt::format(" {}, no other configuration of these devices moves less",
                                MovesText(chosen->moved_bytes))
                  : " has the most data-parallel ranks that the layout permits";
    text += "; the speed of a user's program is not known";
  } else if (now) {
    const bool is_forced = !keeps && IsSlower(*now, chosen->step_seconds);
    text += fmt::format(" is estimated {}{} and {}", AgainstNow(*now, chosen->step_seconds),
                        is_forced ? ", but the fastest that uses these devices" : "",
                        MovesText(chosen->moved_bytes));
  } else {
    text +=
        fmt::format(" is estimated the fastest, {} per step", SecondsText(chosen->step_seconds));
  }
  if (known && keeps && !chosen->current) text += "; tp and pp stay";
  if (known && rival)
    text += "; " + RivalText(*chosen, *rival, chosen->current ? std::nullopt : now);
  if (!chosen->idle.empty()) text += "; " + IdleText(chosen->idle);
  return text + '.';
}

}  // namespace tessera::engine
