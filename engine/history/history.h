// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// What happened in a cluster, in a SQLite file: transactions, events, and the samples of its jobs.
/// Schema: resources/schema/history.sql.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/cluster/snapshot.h"
#include "ptc/base/result.h"

namespace tessera::engine {

/// One thread owns it. Every call is a transaction of its own: done as a whole or not at all, and
/// kept when the process is killed right afterwards. Limits of 0 and below mean all.
/// Errors are those of Database::Open; each names the file.
class History {
 public:
  /// Opens or makes the file and brings it to this program's version.
  /// \error also kFailedPrecondition for a file of a newer version, naming both versions.
  static Result<std::unique_ptr<History>> Open(const std::string& path);
  History(const History&) = delete;
  History& operator=(const History&) = delete;
  ~History();

  /// Adds the entry, or replaces the one with its id.
  Status PutTransaction(const HistoryEntry& entry);
  /// Newest first. \param job empty: of all jobs
  Result<std::vector<HistoryEntry>> Transactions(std::string_view job, std::int64_t limit);

  /// Gives the event the next number in event.sequence; numbers grow and never come again. On error
  /// the event is as before.
  Status AddEvent(Event& event);
  /// The first `limit` events after that number, ascending.
  Result<std::vector<Event>> Events(std::int64_t after_sequence, std::int64_t limit);
  /// Number of the newest event, 0 if there is none.
  Result<std::int64_t> LastEvent();

  /// Replaces samples of the same job and step: after going back, a step is made again.
  Status AddSamples(std::span<const Sample> samples);
  /// The first `limit` samples after that step, ascending.
  Result<std::vector<Sample>> Samples(std::string_view job, std::int64_t after_step,
                                      std::int64_t limit);

 private:
  struct Impl;
  explicit History(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace tessera::engine
