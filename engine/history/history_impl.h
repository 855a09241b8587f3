// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Shared by the source files of History: the database, and the conversion of rows to values.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/history/history.h"
#include "engine/history/sqlite.h"

namespace tessera::engine {

struct History::Impl {
  std::unique_ptr<Database> database;

  /// The text for a key in `about`; empty if there is none.
  Result<std::string> About(std::string_view key);
  Result<std::int64_t> AboutInt(std::string_view key);
  Status SetAbout(std::string_view key, std::string_view value);
  Status SetAbout(std::string_view key, std::int64_t value);

  /// Writes inside a transaction of the caller.
  Status PutTransaction(const HistoryEntry& entry);
  Status PutSamples(std::span<const Sample> samples, bool with_sequence);
};

/// The columns that ReadTransaction, ReadEvent and ReadSample read.
inline constexpr char kTransactionColumns[] =
    "id, job, from_mesh, to_mesh, started, result, reason, pause, bytes_moved, volume_bound, "
    "digest_before, digest_after, step, epoch, from_options, to_options, who, kept, device, host, "
    "network, pause_estimate, in_rounds, gradients_planned, gradients_moved, origin, "
    "kind, gap";
inline constexpr int kNumTransactionColumns = 28;
inline constexpr char kEventColumns[] = "sequence, time, severity, source, text, note";
inline constexpr char kSampleColumns[] =
    "job, step, loss, grad_norm, tokens_per_second, time, sequence, origin";

Result<HistoryEntry> ReadTransaction(const Statement& row, const std::string& path);
/// Reads the phases and flows of each.
Status ReadParts(Database& database, std::vector<HistoryEntry>& entries);
/// Reads the metrics of each.
Status ReadMetrics(Database& database, std::vector<Sample>& samples);
Result<Event> ReadEvent(const Statement& row, const std::string& path);
Sample ReadSample(const Statement& row);
/// The column `note` of an event.
std::string NoteText(const Event& event);

/// Binds values to parameters 0, 1, … in order.
template <typename... Values>
Status BindAll(Statement& statement, const Values&... values) {
  Status status = OkStatus();
  int parameter = 0;
  ((status = status ? statement.Bind(parameter++, values) : std::move(status)), ...);
  return status;
}

inline std::int64_t LimitOf(std::int64_t limit) { return limit <= 0 ? -1 : limit; }  // SQL's all

}  // namespace tessera::engine
