// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Rows of a history as comma-separated values: RFC 4180 (lines end in CR LF; a field with a comma,
/// a quote or a line break stands in quotes, with its quotes doubled). Heads carry the units.
/// Numbers have every digit and a point, whatever the locale; what is none is `NaN`, `inf`, `-inf`.

#include <string>

#include "engine/cluster/snapshot.h"

namespace tessera::engine {

/// One line each, with its end.
std::string CsvHeadOfTransactions();
std::string CsvHeadOfEvents();
std::string CsvHeadOfSamples();
std::string ToCsv(const HistoryEntry& entry);
std::string ToCsv(const Event& event);
std::string ToCsv(const Sample& sample);

/// Wall-clock seconds as UTC with milliseconds, "2026-11-21T04:58:53.250Z"; empty where it is not
/// a time of the years 1970…9999.
std::string IsoTime(double seconds_since_1970);

}  // namespace tessera::engine
