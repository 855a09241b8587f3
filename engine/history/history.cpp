// SPDX-License-Identifier: Apache-2.0
#include "engine/history/history.h"

#include <utility>

#include "engine/history/schema.h"
#include "engine/history/sqlite.h"

namespace tessera::engine {
namespace {

/// Binds values to parameters 0, 1, … in order.
template <typename... Values>
Status BindAll(Statement& statement, const Values&... values) {
  Status status = OkStatus();
  int parameter = 0;
  ((status = status ? statement.Bind(parameter++, values) : std::move(status)), ...);
  return status;
}

std::int64_t LimitOf(std::int64_t limit) { return limit <= 0 ? -1 : limit; }  // SQL: -1 is all

}  // namespace

struct History::Impl {
  std::unique_ptr<Database> database;
  Statement put_transaction, drop_phases, put_phase, transactions, transactions_of_job, phases;
  Statement add_event, events, last_event;
  Statement put_sample, samples;
};

Result<std::unique_ptr<History>> History::Open(const std::string& path) {
  TESSERA_TRY(auto database, Database::Open(path, Database::Durability::kNormal));
  TESSERA_RETURN_IF_ERROR(Migrate(*database, kHistorySchema));
  Database& db = *database;

  // An upsert, because REPLACE would delete the row and its phases with it.
  TESSERA_TRY(auto put_transaction, db.Prepare(R"(
      INSERT INTO transactions VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?)
      ON CONFLICT (id) DO UPDATE SET job = excluded.job, from_mesh = excluded.from_mesh,
        to_mesh = excluded.to_mesh, started = excluded.started, result = excluded.result,
        reason = excluded.reason, pause = excluded.pause, bytes_moved = excluded.bytes_moved,
        volume_bound = excluded.volume_bound, digest_before = excluded.digest_before,
        digest_after = excluded.digest_after, step = excluded.step, epoch = excluded.epoch)"));
  TESSERA_TRY(auto drop_phases, db.Prepare("DELETE FROM transaction_phases WHERE id = ?"));
  TESSERA_TRY(auto put_phase, db.Prepare("INSERT INTO transaction_phases VALUES (?,?,?)"));
  const std::string columns =
      "SELECT id, job, from_mesh, to_mesh, started, result, reason, pause, bytes_moved, "
      "volume_bound, digest_before, digest_after, step, epoch FROM transactions ";
  TESSERA_TRY(auto transactions, db.Prepare(columns + "ORDER BY id DESC LIMIT ?"));
  TESSERA_TRY(auto transactions_of_job,
              db.Prepare(columns + "WHERE job = ?2 ORDER BY id DESC LIMIT ?1"));
  TESSERA_TRY(auto phases,
              db.Prepare("SELECT phase, seconds FROM transaction_phases WHERE id = ?"));
  TESSERA_TRY(auto add_event,
              db.Prepare("INSERT INTO events (time, severity, source, text) VALUES (?,?,?,?)"));
  TESSERA_TRY(auto events, db.Prepare("SELECT sequence, time, severity, source, text FROM events "
                                      "WHERE sequence > ? ORDER BY sequence LIMIT ?"));
  TESSERA_TRY(auto last_event, db.Prepare("SELECT ifnull(max(sequence), 0) FROM events"));
  TESSERA_TRY(auto put_sample, db.Prepare("INSERT OR REPLACE INTO samples VALUES (?,?,?,?,?,?)"));
  TESSERA_TRY(auto samples,
              db.Prepare("SELECT job, step, loss, grad_norm, tokens_per_second, time FROM samples "
                         "WHERE job = ? AND step > ? ORDER BY step LIMIT ?"));

  auto impl = std::unique_ptr<Impl>(
      new Impl{std::move(database), std::move(put_transaction), std::move(drop_phases),
               std::move(put_phase), std::move(transactions), std::move(transactions_of_job),
               std::move(phases), std::move(add_event), std::move(events), std::move(last_event),
               std::move(put_sample), std::move(samples)});
  return std::unique_ptr<History>(new History(std::move(impl)));
}

History::History(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
History::~History() = default;

Status History::PutTransaction(const HistoryEntry& e) {
  return impl_->database->InTransaction([&]() -> Status {
    Statement& put = impl_->put_transaction;
    TESSERA_RETURN_IF_ERROR(BindAll(put, e.id, e.job, e.from, e.to, e.started, e.result, e.reason,
                                    e.pause, e.bytes_moved, e.volume_bound, e.digest_before,
                                    e.digest_after, e.step, e.epoch));
    TESSERA_RETURN_IF_ERROR(put.Run());
    TESSERA_RETURN_IF_ERROR(impl_->drop_phases.Bind(0, e.id));
    TESSERA_RETURN_IF_ERROR(impl_->drop_phases.Run());
    for (const auto& [phase, seconds] : e.phases) {
      TESSERA_RETURN_IF_ERROR(BindAll(impl_->put_phase, e.id, phase, seconds));
      TESSERA_RETURN_IF_ERROR(impl_->put_phase.Run());
    }
    return OkStatus();
  });
}

Result<std::vector<HistoryEntry>> History::Transactions(std::string_view job, std::int64_t limit) {
  Statement& query = job.empty() ? impl_->transactions : impl_->transactions_of_job;
  TESSERA_RETURN_IF_ERROR(query.Bind(0, LimitOf(limit)));
  if (!job.empty()) TESSERA_RETURN_IF_ERROR(query.Bind(1, job));
  std::vector<HistoryEntry> entries;
  for (;;) {
    TESSERA_TRY(const bool row, query.Step());
    if (!row) break;
    HistoryEntry e;
    e.id = query.Int(0);
    e.job = query.Text(1);
    e.from = query.Text(2);
    e.to = query.Text(3);
    e.started = query.Double(4);
    e.result = query.Text(5);
    e.reason = query.Text(6);
    e.pause = query.Double(7);
    e.bytes_moved = query.Int(8);
    e.volume_bound = query.Int(9);
    e.digest_before = query.Text(10);
    e.digest_after = query.Text(11);
    e.step = query.Int(12);
    e.epoch = query.Int(13);
    entries.push_back(std::move(e));
  }
  query.Reset();
  for (HistoryEntry& entry : entries) {
    TESSERA_RETURN_IF_ERROR(impl_->phases.Bind(0, entry.id));
    for (;;) {
      TESSERA_TRY(const bool row, impl_->phases.Step());
      if (!row) break;
      entry.phases.emplace(impl_->phases.Text(0), impl_->phases.Double(1));
    }
    impl_->phases.Reset();
  }
  return entries;
}

Status History::AddEvent(Event& event) {
  Statement& add = impl_->add_event;
  TESSERA_RETURN_IF_ERROR(
      BindAll(add, event.time, ToString(event.severity), event.source, event.text));
  TESSERA_RETURN_IF_ERROR(add.Run());
  event.sequence = impl_->database->last_insert_rowid();
  return OkStatus();
}

Result<std::vector<Event>> History::Events(std::int64_t after_sequence, std::int64_t limit) {
  Statement& query = impl_->events;
  TESSERA_RETURN_IF_ERROR(BindAll(query, after_sequence, LimitOf(limit)));
  std::vector<Event> events;
  for (;;) {
    TESSERA_TRY(const bool row, query.Step());
    if (!row) break;
    Event event;
    event.sequence = query.Int(0);
    event.time = query.Double(1);
    auto severity = ParseSeverity(query.Text(2));
    event.source = query.Text(3);
    event.text = query.Text(4);
    if (!severity) {
      query.Reset();
      return std::move(severity).Context(impl_->database->path()).error();
    }
    event.severity = *severity;
    events.push_back(std::move(event));
  }
  query.Reset();
  return events;
}

Result<std::int64_t> History::LastEvent() {
  TESSERA_TRY(const bool row, impl_->last_event.Step());
  const std::int64_t last = row ? impl_->last_event.Int(0) : 0;
  impl_->last_event.Reset();
  return last;
}

Status History::AddSamples(std::span<const Sample> samples) {
  if (samples.empty()) return OkStatus();
  return impl_->database->InTransaction([&]() -> Status {
    for (const Sample& s : samples) {
      TESSERA_RETURN_IF_ERROR(BindAll(impl_->put_sample, s.job, s.step, s.loss, s.grad_norm,
                                      s.tokens_per_second, s.time));
      TESSERA_RETURN_IF_ERROR(impl_->put_sample.Run());
    }
    return OkStatus();
  });
}

Result<std::vector<Sample>> History::Samples(std::string_view job, std::int64_t after_step,
                                             std::int64_t limit) {
  Statement& query = impl_->samples;
  TESSERA_RETURN_IF_ERROR(BindAll(query, job, after_step, LimitOf(limit)));
  std::vector<Sample> samples;
  for (;;) {
    TESSERA_TRY(const bool row, query.Step());
    if (!row) break;
    samples.push_back({query.Text(0), query.Int(1), query.Double(2), query.Double(3),
                       query.Double(4), query.Double(5)});
  }
  query.Reset();
  return samples;
}

}  // namespace tessera::engine
