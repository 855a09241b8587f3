// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// What can be asked of a history. A condition left out holds for every row; times are wall-clock
/// seconds since 1970, and a range of time is half open: from <= time < to.

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
  std::string job = {};
  std::optional<std::int64_t> id = {};      // this one only
  std::optional<std::int64_t> before = {};  // ids below this one: the next page
  TimeRange time = {};                      // of `started`
  std::int64_t limit = 0;                   // 0 and below: all
};

/// Ascending sequence numbers.
struct EventQuery {
  std::int64_t after = 0;  // sequence numbers above this one
  TimeRange time = {};
  Severity least = Severity::kDebug;
  std::string source = {};  // exactly
  std::string text = {};    // a part of the text, in any case of ASCII letters
  std::int64_t limit = 0;   // 0 and below: all
  bool newest = false;      // of more than `limit` the last ones instead of the first
};

/// Those of a job by ascending steps, those of all jobs by ascending sequence numbers. Steps that
/// were undone are left out.
struct SampleQuery {
  std::string job = {};
  std::optional<std::int64_t> after_step = {};
  std::int64_t after = 0;  // sequence numbers above this one
  TimeRange time = {};
  std::int64_t limit = 0;  // 0 and below: all
  bool newest = false;     // of more than `limit` the last ones instead of the first
};

}  // namespace tessera::engine
