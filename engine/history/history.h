// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The history of a cluster in a SQLite file: transactions, events, and samples of its jobs.
/// Schema: resources/schema/history.sql.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/cluster/snapshot.h"
#include "engine/history/changes.h"
#include "engine/history/query.h"
#include "ptc/base/result.h"

namespace tessera::engine {

/// The limits of a history.
struct Retention {
  std::int64_t max_bytes = 256LL << 20;
  double max_age_seconds = 90.0 * 86400;
};

/// Every call is one database transaction: it happens as a whole or not at all, and its effect
/// survives a kill of the process right after the call. A limit of 0 or below means all rows.
/// Errors are those of Database::Open; each names the file.
/// \threadsafety One thread owns it.
class History {
 public:
  /// Opens or creates the file. Migrates a file of an older version after a backup (see Migrate).
  /// \error also kFailedPrecondition for a file of a newer version, naming both versions, and for a
  ///     database of another program; kDataLoss for a damaged file, with the remedy
  static Result<std::unique_ptr<History>> Open(const std::string& path);
  /// An empty one in memory, which ends with the object.
  static Result<std::unique_ptr<History>> InMemory();
  /// As Open, but checks the whole file first. Moves a damaged file to `PATH.bad` (numbered if that
  /// exists) and creates a new one.
  /// \param note receives one line about that, for an event; empty otherwise
  static Result<std::unique_ptr<History>> OpenOrQuarantine(const std::string& path,
                                                           std::string* note);
  /// Opens the file without ever writing to it: calls that write fail. Reads a file of an older
  /// version through a copy in memory.
  /// \error also kNotFound
  static Result<std::unique_ptr<History>> OpenReadOnly(const std::string& path);
  History(const History&) = delete;
  History& operator=(const History&) = delete;
  ~History();

  // ---- writing

  /// Adds the entry, or replaces the one with its id.
  Status PutTransaction(const HistoryEntry& entry);
  /// Sets event.sequence to the next number. Numbers ascend and are never reused. On error the
  /// event is unchanged.
  Status AddEvent(Event& event);
  /// Adds samples. Those of a job are in the order in which the job made its steps. A sample of the
  /// newest step of its job replaces that step; a sample of an earlier step undoes all steps from
  /// it on (schema: `undone`). Jobs that had one name differ in `origin`, and undo only their own
  /// steps. Ignores `sequence`.
  Status AddSamples(std::span<const Sample> samples);

  // ---- reading

  Result<std::vector<HistoryEntry>> Transactions(const TransactionQuery& query);
  Result<std::vector<HistoryEntry>> Transactions(std::string_view job, std::int64_t limit);
  Result<std::optional<HistoryEntry>> Transaction(std::int64_t id);

  Result<std::vector<Event>> Events(const EventQuery& query);
  /// The first `limit` events after that number, ascending.
  Result<std::vector<Event>> Events(std::int64_t after_sequence, std::int64_t limit);
  /// Number of the newest event, 0 if there is none.
  Result<std::int64_t> LastEvent();

  Result<std::vector<Sample>> Samples(const SampleQuery& query);
  /// The first `limit` samples of the latest job of that name after that step, ascending.
  Result<std::vector<Sample>> Samples(std::string_view job, std::int64_t after_step,
                                      std::int64_t limit);
  /// The samples of the latest job of that name in that time for a plot, with undone ones,
  /// ascending in time: at most
  /// `max_points`, chosen so that extremes stay (see Decimator). 0 and below: all.
  Result<std::vector<Sample>> SamplesBetween(std::string_view job, const TimeRange& time,
                                             std::int64_t max_points);
  /// Sample::origin of the latest job of that name that has samples or transactions; 0 if there is
  /// none, or if all rows are of versions that did not record it.
  Result<std::int64_t> LatestOrigin(std::string_view job);
  /// Names of jobs with samples or transactions, ascending.
  Result<std::vector<std::string>> Jobs();

  // ---- retention (retention.cpp)

  /// Does one bounded part (some thousand rows, a megabyte of file) of the work that keeps the
  /// history within its limits. Removes rows beyond the age. While the file exceeds its limit, in
  /// this order:
  ///   1. thins samples older than an hour: each minute keeps its last, least and greatest loss;
  ///   2. removes samples older than an hour, oldest first;
  ///   3. removes events, oldest first, except the newest 1000;
  ///   4. removes transactions, oldest first, except the newest 100;
  ///   5. removes all other samples, then events, then transactions, oldest first.
  /// The newest transaction always stays. Freed pages return to the file system.
  /// \param now wall clock
  /// \return whether there is more to do: call again soon
  Result<bool> Retain(const Retention& retention, double now);
  /// Bytes of the pages in use.
  Result<std::int64_t> SizeBytes();

  // ---- mirrors (changes.cpp)

  /// What tells this history from any other: sequence numbers are unique within one.
  Result<std::string> Id();

  /// Rows after `cursor`, at most `limit` of each kind. A cursor of another history counts as the
  /// beginning.
  Result<HistoryChanges> ChangesSince(const HistoryCursor& cursor, std::int64_t limit);
  /// Makes this file a mirror of a cluster's history and adds the changes. Does nothing if the
  /// mirror is not at `since`.
  /// \param now wall clock
  /// \error also kFailedPrecondition if the changes are of another history than the mirror's
  Status ApplyChanges(std::string_view cluster, const HistoryCursor& since,
                      const HistoryChanges& changes, double now);
  /// The position of this mirror.
  Result<HistoryCursor> Cursor();
  /// The cluster whose history this file mirrors; nullopt for a registrar's own history.
  Result<std::optional<std::string>> MirrorOf();
  /// Notes that the cluster is simulated, on this hardware.
  Status NoteSimulated(const std::string& hardware);
  /// The hardware of a simulated cluster; nullopt for a real one.
  Result<std::optional<std::string>> Simulated();
  /// For a mirror: the spans of time in which it has every row, ascending. Outside of them it may
  /// lack rows.
  Result<std::vector<TimeSpan>> Covered();
  /// For a mirror: the spans of time between those of Covered.
  Result<std::vector<TimeSpan>> Gaps();

 private:
  struct Impl;
  Result<std::int64_t> ThinSamples(double now);
  explicit History(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace tessera::engine
