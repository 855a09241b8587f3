// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// How a history is followed: a mirror says how far it is, and gets what came after. It holds what
/// it has in the same order and without holes, whatever is killed in between.

#include <cstdint>
#include <string>
#include <vector>

#include "engine/cluster/snapshot.h"

namespace tessera::engine {

/// How far a mirror is: the last it has of each.
struct HistoryCursor {
  std::string history = {};  // id of the history that it follows; empty: of none yet
  std::int64_t event = 0;
  std::int64_t sample = 0;
  std::int64_t revision = 0;  // of transactions
  friend bool operator==(const HistoryCursor&, const HistoryCursor&) = default;
};

struct HistoryChanges {
  HistoryCursor next = {};  // where one is with these
  bool missing = false;     // retention has removed some of what came after the cursor
  bool more = false;        // ask again with `next`
  std::vector<Event> events = {};
  std::vector<Sample> samples = {};  // undone ones as well, by sequence number
  std::vector<HistoryEntry> transactions = {};
  friend bool operator==(const HistoryChanges&, const HistoryChanges&) = default;
};

/// Half-open range of wall-clock time.
struct TimeSpan {
  double from = 0;
  double to = 0;
  friend bool operator==(const TimeSpan&, const TimeSpan&) = default;
};

}  // namespace tessera::engine
