// SPDX-License-Identifier: Apache-2.0
#include "engine/cluster/snapshot_status.h"

#include <fmt/format.h>

#include <charconv>

#include "ptc/base/utf8.h"

namespace tessera::engine {
namespace {

constexpr std::int64_t kMostSteps = 1'000'000;
constexpr std::int64_t kMostSeconds = 24 * 3600;

}  // namespace

std::string ToString(SnapshotEvery every) {
  if (every.steps > 0) return std::to_string(every.steps);
  return every.seconds > 0 ? fmt::format("{}s", every.seconds) : "off";
}

Status CheckSnapshotEvery(SnapshotEvery every) {
  if (every.steps < 0 || every.steps > kMostSteps || every.seconds < 0 ||
      every.seconds > kMostSeconds || (every.steps > 0 && every.seconds > 0)) {
    return InvalidArgument(
        fmt::format("snapshots every {} steps and {} s: one of the two, from 1 to {} steps or from "
                    "1 to {} s",
                    every.steps, every.seconds, kMostSteps, kMostSeconds));
  }
  return OkStatus();
}

Result<SnapshotEvery> ParseSnapshotEvery(std::string_view text) {
  if (text == "off") return SnapshotEvery{};
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  const std::int64_t scale = unit == "s" ? 1 : unit == "m" ? 60 : unit == "h" ? 3600 : 0;
  const bool is_number = error == std::errc() && number >= 1 && (unit.empty() || scale > 0);
  const std::int64_t most = scale > 0 ? kMostSeconds / scale : kMostSteps;
  if (!is_number || number > most) {
    return InvalidArgument(
        fmt::format("'{}' is not `off`, a number of steps from 1 to {} or a time from 1s to {}h",
                    Escaped(text), kMostSteps, kMostSeconds / 3600));
  }
  return scale > 0 ? SnapshotEvery{0, number * scale} : SnapshotEvery{number, 0};
}

}  // namespace tessera::engine
