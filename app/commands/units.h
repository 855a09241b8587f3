// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// Sizes, rates, times and tables as text. `512M` is binary, `100MB/s` is decimal.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ptc/base/result.h"

namespace tessera::app {

/// "512M", "1G", "64K", "4096": binary multiples of bytes.
/// \error kInvalidArgument naming the text
Result<std::int64_t> parseMemory(std::string_view text);
/// parseMemory for --gpu-memory of `up` and `node setup`: at least what an agent accepts.
/// \error kInvalidArgument naming the option, the text and the limit
Result<std::int64_t> parseGpuMemory(std::string_view text);
/// "100MB/s", "1GB/s", "500KB/s": decimal multiples of bytes per second.
/// \error kInvalidArgument naming the text
Result<std::int64_t> parseRate(std::string_view text);
/// Checks the name of a cluster, job or rack: `[a-z0-9][a-z0-9-]{0,62}`.
/// \error kInvalidArgument naming `what`, the text and, where it is clear, the name that was meant
Status checkName(std::string_view what, std::string_view name);

/// "37.3 MiB".
std::string formatBytes(std::int64_t bytes);
/// "1.2 GB/s", decimal as in parseRate.
std::string formatRate(double bytesPerSecond);
/// A number in short: "405.9 B" (billions), "124.4 M", "812".
std::string formatCount(std::int64_t count);
/// "12.4 ms", "3.21 s", "2 min 05 s".
std::string formatSeconds(double seconds);
/// A long time in short: "45 s", "12 min", "3 h 05 min", "2 d 4 h".
std::string formatSpan(double seconds);
/// Local time of day, "14:02:31", with the date before it unless it is today.
std::string formatClock(double secondsSince1970);

/// "[######........................]": the part that is done, from 0 to 1.
std::string formatBar(double part);

/// Rows in aligned columns, two spaces apart; the first row is the head. Columns in `right` are
/// aligned on the right. Counts characters, not bytes, and no colours.
std::string formatTable(const std::vector<std::vector<std::string>>& rows,
                        const std::vector<std::size_t>& right = {});

}  // namespace tessera::app
