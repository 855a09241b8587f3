// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// Points in time as users write them.

#include <string_view>

#include "app/commands/options.h"
#include "engine/history/query.h"
#include "ptc/base/result.h"

namespace tessera::app {

/// "90s", "10m", "2h", "3d" in seconds.
/// \error kInvalidArgument naming the text
Result<double> parseDuration(std::string_view text);
/// A duration as above (that long before `now`), "2026-11-21", "2026-11-21 14:02" or
/// "2026-11-21T14:02:31" in local time, or in UTC with a Z at the end.
/// \return seconds since 1970
Result<double> parseWhen(std::string_view text, double now);
/// `--from TIME` and `--to TIME`.
OptionSpec fromTimeOption();
OptionSpec toTimeOption();
/// Reads them.
/// \error kInvalidArgument, also for an empty range
Result<engine::TimeRange> parseRange(const Arguments& arguments, double now);
/// Now, in seconds since 1970.
double wallClock();

}  // namespace tessera::app
