// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// Sizes, rates, times and tables as text. `512M` is binary, `100MB/s` is 10^6.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ptc/base/result.h"

namespace tessera::app {

/// "512M", "1G", "64K", "4096": binary multiples. \error kInvalidArgument naming the text.
Result<std::int64_t> parseMemory(std::string_view text);
/// "100MB/s", "1GB/s", "500KB/s": decimal, bytes a second. \error as parseMemory.
Result<std::int64_t> parseRate(std::string_view text);
/// Names of clusters and jobs: `[a-z0-9][a-z0-9-]{0,62}`. \error naming `what` and the text.
Status checkName(std::string_view what, std::string_view name);

/// "37.3 MiB".
std::string formatBytes(std::int64_t bytes);
/// "1.2 GB/s": decimal, as parseRate.
std::string formatRate(double bytesPerSecond);
/// "405.9 B", "124.4 M", "812": how many, in short.
std::string formatCount(std::int64_t count);
/// "12.4 ms", "3.21 s", "2 min 05 s".
std::string formatSeconds(double seconds);
/// Local time of day, "14:02:31"; the date before it where it is not today.
std::string formatClock(double secondsSince1970);

/// Rows in aligned columns, two spaces apart; the first row is the head. Columns named in `right`
/// are aligned on the right.
std::string formatTable(const std::vector<std::vector<std::string>>& rows,
                        const std::vector<std::size_t>& right = {});

}  // namespace tessera::app
