// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/commands/units.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <ctime>
#include <limits>
#include <utility>

#include "agents/node/config.h"
#include "app/commands/terminal.h"
#include "engine/search/fit.h"
#include "ptc/base/short_name.h"

namespace tessera::app {
namespace {

using Unit = std::pair<std::string_view, std::int64_t>;

/// A decimal number, then one of `units`, with nothing after it.
template <std::size_t N>
Result<std::int64_t> parseWithUnit(std::string_view text, const std::array<Unit, N>& units,
                                   std::string_view example) {
  const Error wrong = InvalidArgument(fmt::format("'{}' is not a size such as {}", text, example));
  double number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, failure] = std::from_chars(text.data(), end, number, std::chars_format::fixed);
  if (failure != std::errc() || !(number > 0)) return wrong;
  const std::string_view suffix(stop, static_cast<std::size_t>(end - stop));
  for (const auto& [name, factor] : units) {
    if (suffix != name) continue;
    const double bytes = number * static_cast<double>(factor);
    if (bytes >= static_cast<double>(std::numeric_limits<std::int64_t>::max()) || bytes < 1)
      return wrong;
    return std::llround(bytes);
  }
  return wrong;
}

/// The name that was probably meant: small letters, with dashes for underscores, points and blanks.
/// Empty if the text has other characters.
std::string nearestName(std::string_view text) {
  std::string near;
  for (const char c : text) {
    const bool isCapital = c >= 'A' && c <= 'Z';
    const bool isGap = c == '_' || c == '.' || c == ' ';
    near += isCapital ? static_cast<char>(c - 'A' + 'a') : isGap ? '-' : c;
  }
  return IsShortName(near) ? near : std::string();
}

}  // namespace

Result<std::int64_t> parseMemory(std::string_view text) {
  static constexpr std::array<Unit, 9> kUnits = {{{"", 1},
                                                  {"K", 1LL << 10},
                                                  {"M", 1LL << 20},
                                                  {"G", 1LL << 30},
                                                  {"T", 1LL << 40},
                                                  {"KiB", 1LL << 10},
                                                  {"MiB", 1LL << 20},
                                                  {"GiB", 1LL << 30},
                                                  {"TiB", 1LL << 40}}};
  return parseWithUnit(text, kUnits, "512M or 1G");
}

Result<std::int64_t> parseGpuMemory(std::string_view text) {
  auto bytes = parseMemory(text);
  if (!bytes) return std::move(bytes).Context("--gpu-memory");
  if (*bytes >= agents::kLeastDeviceBytes) return bytes;
  return InvalidArgument(fmt::format("--gpu-memory '{}' is below {}, the least for a GPU", text,
                                     formatBytes(agents::kLeastDeviceBytes)));
}

Result<std::int64_t> parseRate(std::string_view text) {
  static constexpr std::array<Unit, 4> kUnits = {
      {{"B/s", 1}, {"KB/s", 1000}, {"MB/s", 1'000'000}, {"GB/s", 1'000'000'000}}};
  return parseWithUnit(text, kUnits, "100MB/s or 1GB/s");
}

Status checkName(std::string_view what, std::string_view name) {
  if (IsShortName(name)) return OkStatus();
  const std::string near = nearestName(name);
  return InvalidArgument(fmt::format("{} '{}' does not match [a-z0-9][a-z0-9-]{{0,62}}{}", what,
                                     name,
                                     near.empty() ? "" : fmt::format("; did you mean {}?", near)));
}

std::string formatBytes(std::int64_t bytes) {
  static constexpr std::array<const char*, 5> kUnits = {"B", "KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 1024 && unit + 1 < kUnits.size()) {
    value /= 1024;
    ++unit;
  }
  return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.1f} {}", value, kUnits[unit]);
}

std::string formatRate(double bytesPerSecond) { return engine::RateText(bytesPerSecond); }

std::string formatCount(std::int64_t count) {
  static constexpr std::array<const char*, 4> kUnits = {" K", " M", " B", " T"};
  if (count < 1000) return fmt::format("{}", count);
  double value = static_cast<double>(count) / 1000;
  std::size_t unit = 0;
  while (value >= 1000 && unit + 1 < kUnits.size()) {
    value /= 1000;
    ++unit;
  }
  return fmt::format("{:.1f}{}", value, kUnits[unit]);
}

std::string formatSeconds(double seconds) {
  if (seconds < 1) return fmt::format("{:.1f} ms", seconds * 1e3);
  if (seconds < 60) return fmt::format("{:.2f} s", seconds);
  const auto whole = std::llround(seconds);
  return fmt::format("{} min {:02} s", whole / 60, whole % 60);
}

std::string formatSpan(double seconds) {
  const auto whole = std::llround(std::clamp(seconds, 0.0, 1e12));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min", whole / 60);
  if (whole < 86400) return fmt::format("{} h {:02} min", whole / 3600, whole / 60 % 60);
  return fmt::format("{} d {} h", whole / 86400, whole / 3600 % 24);
}

std::string formatClock(double secondsSince1970) {
  const auto time = static_cast<std::time_t>(secondsSince1970);
  const std::tm then = fmt::localtime(time);
  const std::tm now = fmt::localtime(std::time(nullptr));
  const bool today = then.tm_year == now.tm_year && then.tm_yday == now.tm_yday;
  return today ? fmt::format("{:%H:%M:%S}", then) : fmt::format("{:%Y-%m-%d %H:%M:%S}", then);
}

std::string formatBar(double part) {
  constexpr int kWidth = 30;
  const int filled = static_cast<int>(std::clamp(part, 0.0, 1.0) * kWidth);
  return fmt::format("[{:#<{}}{:.<{}}]", "", filled, "", kWidth - filled);
}

std::string formatTable(const std::vector<std::vector<std::string>>& rows,
                        const std::vector<std::size_t>& right) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t c = 0; c < row.size(); ++c)
      widths[c] = std::max(widths[c], displayWidth(row[c]));
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t c = 0; c < row.size(); ++c) {
      if (c > 0) line += "  ";
      const std::string space(widths[c] - displayWidth(row[c]), ' ');
      line += std::ranges::count(right, c) > 0 ? space + row[c] : row[c] + space;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

}  // namespace tessera::app
