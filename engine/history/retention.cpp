// SPDX-License-Identifier: Apache-2.0
// Removes rows from a history that is too old or too large, a bounded number per call.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "engine/history/history_impl.h"

namespace tessera::engine {
namespace {

constexpr std::int64_t kRowsAtOnce = 4000;
constexpr std::int64_t kTransactionsAtOnce = 100;  // they have phases and flows
constexpr std::int64_t kPagesAtOnce = 256;         // returned to the file system
constexpr double kRecent = 3600;                   // samples of the last hour stay as they are
constexpr double kBucket = 60;                     // one thinned minute
constexpr std::int64_t kKeptEvents = 1000;
constexpr std::int64_t kKeptTransactions = 100;

/// A table for retention. Rows are removed in ascending order of `key`.
struct Table {
  const char* name;
  const char* key;
  const char* time;
  const char* removed;  // in `about`: the last removed key; null: not stored
  std::int64_t at_once;
};
constexpr Table kSamples = {"samples", "sequence", "time", "removed_samples", kRowsAtOnce};
constexpr Table kEvents = {"events", "sequence", "time", "removed_events", kRowsAtOnce};
constexpr Table kTransactions = {"transactions", "id", "started", nullptr, kTransactionsAtOnce};

/// The rows that may be removed.
struct Allowed {
  double older_than = HUGE_VAL;
  std::int64_t but_newest = 0;  // rows
};

/// Deletes the oldest rows, at most table.at_once.
/// \return the number
Result<std::int64_t> DropOldest(Database& db, const Table& table, const Allowed& allowed) {
  TESSERA_TRY(auto ends,
              db.Prepare(fmt::format("SELECT {0} FROM {1} ORDER BY {0} DESC LIMIT 1 OFFSET ?",
                                     table.key, table.name)));
  TESSERA_RETURN_IF_ERROR(ends.Bind(0, allowed.but_newest));
  TESSERA_TRY(const bool any, ends.Step());
  if (!any) return 0;
  const std::int64_t last = ends.Int(0);
  ends.Reset();
  // Up to the first row that must stay, so that the removed rows are one range.
  TESSERA_TRY(auto rows,
              db.Prepare(fmt::format("SELECT {0}, {1} FROM {2} WHERE {0} <= ? ORDER BY {0} LIMIT ?",
                                     table.key, table.time, table.name)));
  TESSERA_RETURN_IF_ERROR(BindAll(rows, last, table.at_once));
  std::int64_t until = 0, count = 0;
  for (;; ++count) {
    TESSERA_TRY(const bool row, rows.Step());
    if (!row || rows.Double(1) >= allowed.older_than) break;
    until = rows.Int(0);
  }
  rows.Reset();
  if (count == 0) return 0;
  TESSERA_TRY(auto drop,
              db.Prepare(fmt::format("DELETE FROM {} WHERE {} <= ?", table.name, table.key)));
  TESSERA_RETURN_IF_ERROR(drop.Bind(0, until));
  TESSERA_RETURN_IF_ERROR(drop.Run());
  if (table.removed != nullptr) {
    TESSERA_TRY(auto put, db.Prepare("INSERT OR REPLACE INTO about VALUES (?,?)"));
    TESSERA_RETURN_IF_ERROR(BindAll(put, std::string_view(table.removed), until));
    TESSERA_RETURN_IF_ERROR(put.Run());
  }
  return count;
}

/// The samples that a job keeps of one minute.
struct Minute {
  std::int64_t last = 0, least = 0, most = 0, not_a_number = 0;  // sequence numbers
  double least_loss = HUGE_VAL, most_loss = -HUGE_VAL;
};

}  // namespace

Result<std::int64_t> History::SizeBytes() {
  Database& db = *impl_->database;
  TESSERA_TRY(const std::int64_t pages, db.ReadInt("PRAGMA page_count"));
  TESSERA_TRY(const std::int64_t free, db.ReadInt("PRAGMA freelist_count"));
  TESSERA_TRY(const std::int64_t page, db.ReadInt("PRAGMA page_size"));
  return (pages - free) * page;
}

// Thins the next kRowsAtOnce samples after the thinned ones. Returns the number of samples read.
Result<std::int64_t> History::ThinSamples(double now) {
  Database& db = *impl_->database;
  TESSERA_TRY(const std::int64_t thinned, impl_->AboutInt("thinned"));
  TESSERA_TRY(auto rows, db.Prepare("SELECT sequence, job, time, loss, origin FROM samples "
                                    "WHERE sequence > ? ORDER BY sequence LIMIT ?"));
  TESSERA_RETURN_IF_ERROR(BindAll(rows, thinned, kRowsAtOnce));
  std::map<std::tuple<std::string, std::int64_t, double>, Minute> minutes;
  std::vector<std::int64_t> seen;
  for (;;) {
    TESSERA_TRY(const bool row, rows.Step());
    if (!row || rows.Double(2) >= now - kRecent) break;
    const std::int64_t sequence = rows.Int(0);
    const double loss = rows.Double(3);
    Minute& minute = minutes[{rows.Text(1), rows.Int(4),
                              rows.IsNull(2) ? 0 : std::floor(rows.Double(2) / kBucket)}];
    minute.last = sequence;
    if (!std::isfinite(loss)) {
      if (minute.not_a_number == 0) minute.not_a_number = sequence;
    } else {
      if (loss < minute.least_loss) minute.least = sequence, minute.least_loss = loss;
      if (loss > minute.most_loss) minute.most = sequence, minute.most_loss = loss;
    }
    seen.push_back(sequence);
  }
  rows.Reset();
  if (seen.empty()) return 0;
  std::set<std::int64_t> kept;
  for (const auto& [key, minute] : minutes) {
    kept.insert({minute.last, minute.least, minute.most, minute.not_a_number});
  }
  TESSERA_TRY(auto drop, db.Prepare("DELETE FROM samples WHERE sequence = ?"));
  for (const std::int64_t sequence : seen) {
    if (kept.contains(sequence)) continue;
    TESSERA_RETURN_IF_ERROR(drop.Bind(0, sequence));
    TESSERA_RETURN_IF_ERROR(drop.Run());
  }
  TESSERA_RETURN_IF_ERROR(impl_->SetAbout("thinned", seen.back()));
  return std::ssize(seen);
}

Result<bool> History::Retain(const Retention& retention, double now) {
  Database& db = *impl_->database;
  bool more = false;
  const auto step = [&]() -> Status {
    const Allowed aged{now - retention.max_age_seconds, 0};
    for (const auto& [table, allowed] : {std::pair(kSamples, aged), std::pair(kEvents, aged),
                                         std::pair(kTransactions, Allowed{aged.older_than, 1})}) {
      TESSERA_TRY(const std::int64_t gone, DropOldest(db, table, allowed));
      if (gone > 0) {
        more = true;
        return OkStatus();
      }
    }
    TESSERA_TRY(const std::int64_t bytes, SizeBytes());
    if (bytes <= retention.max_bytes) return OkStatus();
    TESSERA_TRY(std::int64_t done, ThinSamples(now));
    const Allowed not_recent{now - kRecent, 0};
    for (const auto& [table, allowed] :
         {std::pair(kSamples, not_recent), std::pair(kEvents, Allowed{HUGE_VAL, kKeptEvents}),
          std::pair(kTransactions, Allowed{HUGE_VAL, kKeptTransactions}),
          std::pair(kSamples, Allowed{}), std::pair(kEvents, Allowed{}),
          std::pair(kTransactions, Allowed{HUGE_VAL, 1})}) {
      if (done > 0) break;
      TESSERA_TRY(done, DropOldest(db, table, allowed));
    }
    more = done > 0;
    return OkStatus();
  };
  TESSERA_RETURN_IF_ERROR(db.InTransaction(step));
  TESSERA_TRY(const std::int64_t free, db.ReadInt("PRAGMA freelist_count"));
  if (free > 0) {
    TESSERA_RETURN_IF_ERROR(db.Execute(fmt::format("PRAGMA incremental_vacuum({})", kPagesAtOnce)));
    // A checkpoint of the log shortens the file. An active reader postpones it.
    TESSERA_RETURN_IF_ERROR(db.Execute("PRAGMA wal_checkpoint(PASSIVE)"));
    more |= free > kPagesAtOnce;
  }
  return more;
}

}  // namespace tessera::engine
