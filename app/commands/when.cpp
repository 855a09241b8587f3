// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/commands/when.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <chrono>
#include <ctime>
#include <string>
#include <utility>

#include "agents/wire/wall_clock.h"

namespace tessera::app {
namespace {

/// Local time, or UTC with a Z, in one of `kForms`, with nothing after it.
std::optional<double> parseDate(std::string text) {
  static constexpr std::array kForms = {"%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M",
                                        "%Y-%m-%d %H:%M", "%Y-%m-%d"};
  const bool utc = text.ends_with('Z');
  if (utc) text.pop_back();
  for (const char* form : kForms) {
    std::tm time = {};
    time.tm_isdst = -1;  // daylight saving as on that day
    const char* end = strptime(text.c_str(), form, &time);
    if (end == nullptr || *end != '\0') continue;
    const std::time_t seconds = utc ? timegm(&time) : mktime(&time);
    if (seconds < 0) return std::nullopt;
    return static_cast<double>(seconds);
  }
  return std::nullopt;
}

}  // namespace

Result<double> parseDuration(std::string_view text) {
  static constexpr std::array<std::pair<std::string_view, double>, 4> kUnits = {
      {{"s", 1}, {"m", 60}, {"h", 3600}, {"d", 86400}}};
  double number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, failure] = std::from_chars(text.data(), end, number, std::chars_format::fixed);
  const std::string_view unit(stop, static_cast<std::size_t>(end - stop));
  if (failure == std::errc() && number > 0 && number < 1e9)
    for (const auto& [name, seconds] : kUnits)
      if (unit == name) return number * seconds;
  return InvalidArgument(fmt::format("'{}' is not a duration such as 90s, 10m, 2h or 3d", text));
}

Result<double> parseWhen(std::string_view text, double now) {
  if (const auto date = parseDate(std::string(text))) return *date;
  if (const auto ago = parseDuration(text)) return now - *ago;
  return InvalidArgument(fmt::format(
      "'{}' is neither a time such as 2026-11-21T14:02 nor a duration such as 2h", text));
}

Result<engine::TimeRange> parseRange(const Arguments& arguments, double now) {
  engine::TimeRange range;
  for (const auto& [name, end] : {std::pair("from", &range.from), std::pair("to", &range.to)}) {
    const auto text = arguments.value(name);
    if (!text) continue;
    auto time = parseWhen(*text, now);
    if (!time) return std::move(time).Context(fmt::format("--{}", name)).error();
    *end = *time;
  }
  if (range.from && range.to && *range.from >= *range.to)
    return InvalidArgument(fmt::format("--from {} is not before --to {}",
                                       arguments.valueOr("from", ""), arguments.valueOr("to", "")));
  return range;
}

OptionSpec fromTimeOption() {
  return {.name = "from",
          .value = "TIME",
          .help = "only rows from this time on: 2h, or 2026-11-21T14:02"};
}

OptionSpec toTimeOption() {
  return {.name = "to", .value = "TIME", .help = "only rows before this time"};
}

double wallClock() { return agents::WallClock(); }

}  // namespace tessera::app
