// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// What happened in a cluster, in a SQLite file: transactions, events, and the samples of its jobs.
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

/// How much of the past is kept.
struct Retention {
  std::int64_t max_bytes = 256LL << 20;
  double max_age_seconds = 90.0 * 86400;
};

/// One thread owns it. Every call is a transaction of its own: done as a whole or not at all, and
/// kept when the process is killed right afterwards. Limits of 0 and below mean all.
/// Errors are those of Database::Open; each names the file.
class History {
 public:
  /// Opens or makes the file. One of an older version is brought to this program's, after a copy of
  /// it was put beside it (see Migrate).
  /// \error also kFailedPrecondition for a file of a newer version, naming both versions, and for a
  ///     database of another program; kDataLoss, for a damaged file, says what to do with it.
  static Result<std::unique_ptr<History>> Open(const std::string& path);
  /// As Open, but checks the whole file first, and moves a damaged one to `PATH.bad` (numbered
  /// where there is one) and begins a new one.
  /// \param note then says so in one line, for an event; empty otherwise
  static Result<std::unique_ptr<History>> OpenOrQuarantine(const std::string& path,
                                                           std::string* note);
  /// To look at: never writes to the file. A file of an older version is read through
  /// a copy in memory. Calls that would write fail. \error also kNotFound
  static Result<std::unique_ptr<History>> OpenReadOnly(const std::string& path);
  History(const History&) = delete;
  History& operator=(const History&) = delete;
  ~History();

  // ---- writing

  /// Adds the entry, or replaces the one with its id.
  Status PutTransaction(const HistoryEntry& entry);
  /// Gives the event the next number in event.sequence; numbers grow and never come again. On error
  /// the event is as before.
  Status AddEvent(Event& event);
  /// Adds samples, each job's in the order in which its steps were made. A step made again replaces
  /// the newest of its job; one before it undoes all steps from it on (schema: `undone`). Their
  /// `sequence` is not read.
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
  /// The first `limit` samples after that step, ascending.
  Result<std::vector<Sample>> Samples(std::string_view job, std::int64_t after_step,
                                      std::int64_t limit);
  /// The job's curve over that time for a plot: at most `max_points` of its samples, undone ones as
  /// well, ascending in time, chosen so that extremes stay (see Decimator; 0 and below: all).
  Result<std::vector<Sample>> SamplesBetween(std::string_view job, const TimeRange& time,
                                             std::int64_t max_points);
  /// Jobs that have samples or transactions, by name.
  Result<std::vector<std::string>> Jobs();

  // ---- retention (retention.cpp)

  /// Does one bounded piece (some thousand rows, a megabyte of file) of what keeps the history
  /// within its limits. What is beyond the age goes. While there are more bytes than the limit, in
  /// this order:
  ///   1. samples older than an hour are thinned: a minute keeps its last, least and greatest loss;
  ///   2. samples older than an hour go, oldest first;
  ///   3. events, oldest first, but the newest 1000;
  ///   4. transactions, oldest first, but the newest 100;
  ///   5. all other samples, then events, then transactions, oldest first.
  /// The newest transaction always stays. Freed pages are given back to the file system.
  /// \param now wall clock
  /// \return whether there is more to do: call again soon
  Result<bool> Retain(const Retention& retention, double now);
  /// Bytes of the pages in use.
  Result<std::int64_t> SizeBytes();

  // ---- mirrors (changes.cpp)

  /// What came after `cursor`, at most `limit` of each kind. A cursor of another history is taken
  /// for the beginning.
  Result<HistoryChanges> ChangesSince(const HistoryCursor& cursor, std::int64_t limit);
  /// Makes this file a mirror of a cluster's history, and puts the changes into it, unless it is
  /// not (any more) where they begin. \param now wall clock
  /// \error also kFailedPrecondition where the changes are of another history than the mirror's
  Status ApplyChanges(std::string_view cluster, const HistoryCursor& since,
                      const HistoryChanges& changes, double now);
  /// How far this mirror is.
  Result<HistoryCursor> Cursor();
  /// The cluster that this is a mirror of; nullopt: it is a registrar's own history.
  Result<std::optional<std::string>> MirrorOf();
  /// Of a mirror: the spans of time in which it has everything, ascending. Outside of them, and
  /// after the last, it knows nothing.
  Result<std::vector<TimeSpan>> Covered();
  /// Of a mirror: what lies between the spans of Covered.
  Result<std::vector<TimeSpan>> Gaps();

 private:
  struct Impl;
  Result<std::int64_t> ThinSamples(double now);
  explicit History(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace tessera::engine
