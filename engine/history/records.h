// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Rows of a history for other programs, as CSV and as JSON. Both have the same columns.
///
/// CSV follows RFC 4180: lines end in CR LF; a field with a comma, a quote or a line break is
/// quoted, with its quotes doubled. The line of titles names the units. Numbers have every digit
/// and a decimal point in every locale; values that are not finite are `NaN`, `inf`, `-inf`. An
/// unknown value is empty.
///
/// JSON has one object per row. A mesh is an object in JSON and text in CSV. Keys name the units.
/// Times are seconds since 1970. An unknown value and one that is not finite is null.

#include <set>
#include <string>

#include "engine/cluster/snapshot.h"

namespace tessera::engine {

/// One line each, with its end.
std::string CsvHeadOfTransactions();
std::string CsvHeadOfEvents();
/// With a column `metrics.NAME` for each of these metrics; ToCsv needs the same.
std::string CsvHeadOfSamples(const std::set<std::string>& metrics = {});
std::string ToCsv(const HistoryEntry& entry);
std::string ToCsv(const Event& event);
std::string ToCsv(const Sample& sample, const std::set<std::string>& metrics = {});

/// One object each, without a line break. Bytes that are not UTF-8 are replaced by U+FFFD.
std::string ToJson(const HistoryEntry& entry);
std::string ToJson(const Event& event);
std::string ToJson(const Sample& sample);

/// Wall-clock seconds as UTC with milliseconds, "2026-11-21T04:58:53.250Z"; empty for a time
/// outside of the years 1970…9999.
std::string IsoTime(double seconds_since_1970);

}  // namespace tessera::engine
