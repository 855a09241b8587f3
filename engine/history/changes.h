// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// How a mirror follows a history: it sends its position and receives the rows after it. So its
/// rows have the same order and no holes, whichever process is killed.

#include <cstdint>
#include <string>
#include <vector>

#include "engine/cluster/snapshot.h"

namespace tessera::engine {

/// The position of a mirror: its last row of each kind.
struct HistoryCursor {
  std::string history = {};  // id of the followed history; empty: none yet
  std::int64_t event = 0;
  std::int64_t sample = 0;
  std::int64_t revision = 0;  // of transactions
  friend bool operator==(const HistoryCursor&, const HistoryCursor&) = default;
};

struct HistoryChanges {
  HistoryCursor next = {};  // position after these changes
  bool missing = false;     // retention removed rows after the cursor
  bool more = false;        // there are more changes after `next`
  std::vector<Event> events = {};
  std::vector<Sample> samples = {};  // with undone ones, by sequence number
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
