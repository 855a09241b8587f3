// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Queries of a history. A condition that is not set holds for every row. Times are wall-clock
/// seconds since 1970, and ranges of time are half open: from <= time < to.

#include <cstdint>
#include <optional>
#include <string>

#include "engine/cluster/snapshot.h"

namespace tessera::engine {

struct TimeRange {
  std::optional<double> from = {}, to = {};
  friend bool operator==(const TimeRange&, const TimeRange&) = default;
};

/// Newest first.
struct TransactionQuery {
  std::string job = {};  // the latest job of that name, unless the next two say otherwise
  std::optional<std::int64_t> origin = {};  // the job of that name with this HistoryEntry::origin
  bool all_of_name = false;                 // all jobs that had that name
  std::optional<std::int64_t> id = {};      // only this one
  std::optional<std::int64_t> before = {};  // ids below this one: the next page
  TimeRange time = {};                      // of `started`
  bool open = false;                        // only those without a result
  std::int64_t limit = 0;                   // 0 and below: all
};

/// Ascending sequence numbers.
struct EventQuery {
  std::int64_t after = 0;  // sequence numbers above this one
  TimeRange time = {};
  Severity least = Severity::kDebug;
  std::string source = {};  // exactly
  std::string text = {};    // substring of the text; the case of ASCII letters is ignored
  std::int64_t limit = 0;   // 0 and below: all
  bool newest = false;      // limit to the last rows instead of the first
  bool notes = false;       // only those with the state of a node
};

/// Samples of one job by ascending steps, or of several jobs by ascending sequence numbers. Without
/// undone steps.
struct SampleQuery {
  std::string job = {};  // the latest job of that name, unless the next two say otherwise
  std::optional<std::int64_t> origin = {};  // the job of that name with this Sample::origin
  bool all_of_name = false;                 // all jobs that had that name
  std::optional<std::int64_t> after_step = {};
  std::int64_t after = 0;  // sequence numbers above this one
  TimeRange time = {};
  std::int64_t limit = 0;  // 0 and below: all
  bool newest = false;     // limit to the last rows instead of the first
};

}  // namespace tessera::engine
