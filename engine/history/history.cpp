// SPDX-License-Identifier: Apache-2.0
// Opening a history, and writing to it.
#include "engine/history/history.h"

#include <fmt/format.h>

#include <limits>
#include <mutex>
#include <utility>

#include "engine/history/history_impl.h"
#include "engine/history/schema.h"

namespace tessera::engine {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();  // stored as NULL

/// Whether the file has the tables that this program reads.
Status CheckTables(Database& database) {
  auto query = database.Prepare(
      "SELECT 1 FROM transactions, transaction_phases, transaction_flows, events, samples, "
      "sample_metrics, about, covered LIMIT 0");
  if (query) return OkStatus();
  if (query.error().code != ErrorCode::kInternal) return query.error();
  return DataLoss(query.error().message);
}

Error WithRemedy(Error error) {
  if (error.code == ErrorCode::kDataLoss) {
    error.message += "; move the file aside, then a new history begins";
  }
  return error;
}

/// Files from before retention cannot return pages to the file system; this converts them once. A
/// lack of space for that is not an error.
void AllowShrinking(Database& database) {
  constexpr std::int64_t kIncremental = 2;
  const auto mode = database.ReadInt("PRAGMA auto_vacuum");
  if (!mode || *mode == kIncremental) return;
  if (database.Execute("PRAGMA auto_vacuum = INCREMENTAL")) (void)database.Execute("VACUUM");
}

Result<std::unique_ptr<Database>> OpenDatabase(const std::string& path, bool check) {
  TESSERA_TRY(auto database, Database::Open(path, Database::Durability::kNormal));
  if (check) TESSERA_RETURN_IF_ERROR(CheckWhole(*database));
  TESSERA_RETURN_IF_ERROR(Migrate(*database, kHistorySchema));
  TESSERA_RETURN_IF_ERROR(CheckTables(*database));
  AllowShrinking(*database);
  return database;
}

Result<std::unique_ptr<Database>> OpenToLook(const std::string& path) {
  TESSERA_TRY(auto database, Database::OpenReadOnly(path));
  TESSERA_TRY(const std::int64_t version, database->ReadInt("PRAGMA user_version"));
  if (version > 0) {
    // Has no effect on a file of this version.
    const Status known = Migrate(*database, kHistorySchema, /*keep_backup=*/false);
    // kUnavailable: an older version, which cannot be migrated.
    if (!known && known.error().code == ErrorCode::kUnavailable) {
      TESSERA_TRY(database, database->CopyToMemory());
      TESSERA_RETURN_IF_ERROR(Migrate(*database, kHistorySchema, /*keep_backup=*/false));
    } else if (!known) {
      return known.error();
    }
  }
  TESSERA_RETURN_IF_ERROR(CheckTables(*database));
  return database;
}

}  // namespace

History::History(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
History::~History() = default;

Result<std::unique_ptr<History>> History::Open(const std::string& path) {
  auto database = OpenDatabase(path, /*check=*/false);
  if (!database) return WithRemedy(std::move(database).error());
  return std::unique_ptr<History>(
      new History(std::unique_ptr<Impl>(new Impl{std::move(*database)})));
}

// Copies an empty one, because the statements of all schema versions take milliseconds.
Result<std::unique_ptr<History>> History::InMemory() {
  static std::mutex mutex;
  static const auto empty = OpenDatabase(":memory:", /*check=*/false);
  if (!empty) return empty.error();
  const std::lock_guard lock(mutex);
  TESSERA_TRY(auto database, (*empty)->CopyToMemory());
  return std::unique_ptr<History>(
      new History(std::unique_ptr<Impl>(new Impl{std::move(database)})));
}

Result<std::unique_ptr<History>> History::OpenOrQuarantine(const std::string& path,
                                                           std::string* note) {
  note->clear();
  auto database = OpenDatabase(path, /*check=*/true);
  if (!database && database.error().code == ErrorCode::kDataLoss) {
    TESSERA_TRY(const std::string bad, MoveAside(path));
    *note = fmt::format("the history was damaged ({}); it is kept as {}, and a new one was created",
                        database.error().ToString(), bad);
    database = OpenDatabase(path, /*check=*/false);
  }
  if (!database) return std::move(database).error();
  return std::unique_ptr<History>(
      new History(std::unique_ptr<Impl>(new Impl{std::move(*database)})));
}

Result<std::unique_ptr<History>> History::OpenReadOnly(const std::string& path) {
  auto database = OpenToLook(path);
  if (!database) return std::move(database).error();
  return std::unique_ptr<History>(
      new History(std::unique_ptr<Impl>(new Impl{std::move(*database)})));
}

// ---- table `about`

Result<std::string> History::Impl::About(std::string_view key) {
  TESSERA_TRY(auto query, database->Prepare("SELECT value FROM about WHERE key = ?"));
  TESSERA_RETURN_IF_ERROR(query.Bind(0, key));
  TESSERA_TRY(const bool row, query.Step());
  return row ? query.Text(0) : std::string();
}

Result<std::int64_t> History::Impl::AboutInt(std::string_view key) {
  TESSERA_TRY(auto query, database->Prepare("SELECT value FROM about WHERE key = ?"));
  TESSERA_RETURN_IF_ERROR(query.Bind(0, key));
  TESSERA_TRY(const bool row, query.Step());
  return row ? query.Int(0) : 0;
}

Status History::Impl::SetAbout(std::string_view key, std::string_view value) {
  TESSERA_TRY(auto put, database->Prepare("INSERT OR REPLACE INTO about VALUES (?,?)"));
  TESSERA_RETURN_IF_ERROR(BindAll(put, key, value));
  return put.Run();
}

Status History::Impl::SetAbout(std::string_view key, std::int64_t value) {
  TESSERA_TRY(auto put, database->Prepare("INSERT OR REPLACE INTO about VALUES (?,?)"));
  TESSERA_RETURN_IF_ERROR(BindAll(put, key, value));
  return put.Run();
}

// ---- writing

Status History::Impl::PutTransaction(const HistoryEntry& e) {
  Database& db = *database;
  TESSERA_TRY(const std::int64_t newest, AboutInt("revision"));
  const std::int64_t revision = newest + 1;
  TESSERA_RETURN_IF_ERROR(SetAbout("revision", revision));
  for (const char* table : {"transaction_phases", "transaction_flows"}) {
    TESSERA_TRY(auto drop, db.Prepare(fmt::format("DELETE FROM {} WHERE id = ?", table)));
    TESSERA_RETURN_IF_ERROR(drop.Bind(0, e.id));
    TESSERA_RETURN_IF_ERROR(drop.Run());
  }
  // No row refers to this one any more, so it may be replaced.
  TESSERA_TRY(auto put,
              db.Prepare(fmt::format("INSERT OR REPLACE INTO transactions ({}, revision) VALUES "
                                     "(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
                                     kTransactionColumns)));
  TESSERA_RETURN_IF_ERROR(
      BindAll(put, e.id, e.job, e.from, e.to, e.started, e.result, e.reason, e.pause, e.bytes_moved,
              e.volume_bound, e.digest_before, e.digest_after, e.step, e.epoch,
              ToString(e.from_options), ToString(e.to_options), e.requester, e.kept, e.device,
              e.host, e.network, e.pause_estimate, ToText(e.in_rounds), e.gradients_planned,
              e.gradients_moved, e.origin, ToString(e.kind),
              e.gap.value_or(kUnknown), revision));
  TESSERA_RETURN_IF_ERROR(put.Run());
  TESSERA_TRY(auto put_phase, db.Prepare("INSERT INTO transaction_phases VALUES (?,?,?)"));
  for (const auto& [phase, seconds] : e.phases) {
    TESSERA_RETURN_IF_ERROR(BindAll(put_phase, e.id, phase, seconds));
    TESSERA_RETURN_IF_ERROR(put_phase.Run());
  }
  TESSERA_TRY(auto put_flow,
              db.Prepare("INSERT OR REPLACE INTO transaction_flows VALUES (?,?,?,?,?,?)"));
  for (const FlowStatus& flow : e.flows) {
    TESSERA_RETURN_IF_ERROR(BindAll(put_flow, e.id, ptc::ToString(flow.source),
                                    ptc::ToString(flow.destination), flow.bytes_done,
                                    flow.bytes_total, flow.bytes_per_second));
    TESSERA_RETURN_IF_ERROR(put_flow.Run());
  }
  return OkStatus();
}

Status History::PutTransaction(const HistoryEntry& entry) {
  return impl_->database->InTransaction([&] { return impl_->PutTransaction(entry); });
}

Status History::AddEvent(Event& event) {
  TESSERA_TRY(auto add,
              impl_->database->Prepare("INSERT INTO events (time, severity, source, text, note) "
                                       "VALUES (?,?,?,?,?)"));
  TESSERA_RETURN_IF_ERROR(BindAll(add, event.time, ToString(event.severity), event.source,
                                  event.text, NoteText(event)));
  TESSERA_RETURN_IF_ERROR(add.Run());
  event.sequence = impl_->database->last_insert_rowid();
  return OkStatus();
}

Status History::Impl::PutSamples(std::span<const Sample> samples, bool with_sequence) {
  Database& db = *database;
  TESSERA_TRY(auto newest, db.Prepare("SELECT step FROM samples WHERE job = ? AND origin = ? "
                                      "AND undone = 0 ORDER BY step DESC LIMIT 1"));
  TESSERA_TRY(auto replaced,
              db.Prepare("DELETE FROM samples WHERE job = ? AND origin = ? AND step = ? "
                         "AND undone = 0"));
  TESSERA_TRY(auto undo, db.Prepare("UPDATE samples SET undone = 1 "
                                    "WHERE job = ? AND origin = ? AND step >= ? AND undone = 0"));
  TESSERA_TRY(auto put, db.Prepare("INSERT INTO samples (job, step, loss, grad_norm, "
                                   "tokens_per_second, time, origin, sequence) "
                                   "VALUES (?,?,?,?,?,?,?,?)"));
  TESSERA_TRY(auto put_metric, db.Prepare("INSERT INTO sample_metrics VALUES (?,?,?)"));
  for (const Sample& s : samples) {
    TESSERA_RETURN_IF_ERROR(BindAll(newest, s.job, s.origin));
    TESSERA_TRY(const bool row, newest.Step());
    const std::optional<std::int64_t> last = row ? std::optional(newest.Int(0)) : std::nullopt;
    newest.Reset();
    if (last && s.step <= *last) {
      Statement& make_room = s.step == *last ? replaced : undo;
      TESSERA_RETURN_IF_ERROR(BindAll(make_room, s.job, s.origin, s.step));
      TESSERA_RETURN_IF_ERROR(make_room.Run());
    }
    TESSERA_RETURN_IF_ERROR(
        BindAll(put, s.job, s.step, s.loss, s.grad_norm, s.tokens_per_second, s.time, s.origin));
    if (with_sequence) TESSERA_RETURN_IF_ERROR(put.Bind(7, s.sequence));  // else NULL: the next
    TESSERA_RETURN_IF_ERROR(put.Run());
    const std::int64_t sequence = db.last_insert_rowid();
    for (const auto& [name, value] : s.metrics) {
      TESSERA_RETURN_IF_ERROR(BindAll(put_metric, sequence, name, value));
      TESSERA_RETURN_IF_ERROR(put_metric.Run());
    }
  }
  return OkStatus();
}

Status History::AddSamples(std::span<const Sample> samples) {
  if (samples.empty()) return OkStatus();
  return impl_->database->InTransaction(
      [&] { return impl_->PutSamples(samples, /*with_sequence=*/false); });
}

}  // namespace tessera::engine
