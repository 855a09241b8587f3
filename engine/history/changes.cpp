// SPDX-License-Identifier: Apache-2.0
#include "engine/history/changes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/history/history_impl.h"

namespace tessera::engine {
namespace {

/// The earliest time in these, or `now`.
double Beginning(const HistoryChanges& changes, double now) {
  double began = now;
  const auto see = [&](double time) {
    if (std::isfinite(time)) began = std::min(began, time);
  };
  for (const Event& event : changes.events) see(event.time);
  for (const Sample& sample : changes.samples) see(sample.time);
  return began;
}

}  // namespace

Result<std::string> History::Id() { return impl_->About("id"); }

Result<HistoryChanges> History::ChangesSince(const HistoryCursor& cursor, std::int64_t limit) {
  Database& db = *impl_->database;
  HistoryChanges changes;
  HistoryCursor& next = changes.next;
  TESSERA_TRY(const std::string id, Id());
  if (cursor.history == id) next = cursor;
  next.history = id;
  TESSERA_TRY(const std::int64_t removed_events, impl_->AboutInt("removed_events"));
  TESSERA_TRY(const std::int64_t removed_samples, impl_->AboutInt("removed_samples"));
  TESSERA_TRY(const std::int64_t thinned, impl_->AboutInt("thinned"));
  changes.missing = next.event < removed_events || next.sample < std::max(removed_samples, thinned);

  TESSERA_TRY(changes.events, Events(next.event, limit));
  if (!changes.events.empty()) next.event = changes.events.back().sequence;

  TESSERA_TRY(auto samples, db.Prepare(fmt::format("SELECT {} FROM samples WHERE sequence > ? "
                                                   "ORDER BY sequence LIMIT ?",
                                                   kSampleColumns)));
  TESSERA_RETURN_IF_ERROR(BindAll(samples, next.sample, LimitOf(limit)));
  TESSERA_RETURN_IF_ERROR(
      ForEachRow(samples, [&] { changes.samples.push_back(ReadSample(samples)); }));
  TESSERA_RETURN_IF_ERROR(ReadMetrics(db, changes.samples));
  if (!changes.samples.empty()) next.sample = changes.samples.back().sequence;

  TESSERA_TRY(auto transactions,
              db.Prepare(fmt::format("SELECT {}, revision FROM transactions WHERE revision > ? "
                                     "ORDER BY revision LIMIT ?",
                                     kTransactionColumns)));
  TESSERA_RETURN_IF_ERROR(BindAll(transactions, next.revision, LimitOf(limit)));
  TESSERA_RETURN_IF_ERROR(ForEachRow(transactions, [&]() -> Status {
    TESSERA_TRY(auto entry, ReadTransaction(transactions, db.path()));
    changes.transactions.push_back(std::move(entry));
    next.revision = transactions.Int(kNumTransactionColumns);
    return OkStatus();
  }));
  TESSERA_RETURN_IF_ERROR(ReadParts(db, changes.transactions));

  const auto full = [&](const auto& rows) { return limit > 0 && std::ssize(rows) == limit; };
  changes.more = full(changes.events) || full(changes.samples) || full(changes.transactions);
  return changes;
}

Result<HistoryCursor> History::Cursor() {
  HistoryCursor cursor;
  TESSERA_TRY(cursor.history, impl_->About("cursor_history"));
  TESSERA_TRY(cursor.event, impl_->AboutInt("cursor_event"));
  TESSERA_TRY(cursor.sample, impl_->AboutInt("cursor_sample"));
  TESSERA_TRY(cursor.revision, impl_->AboutInt("cursor_revision"));
  return cursor;
}

Status History::ApplyChanges(std::string_view cluster, const HistoryCursor& since,
                             const HistoryChanges& changes, double now) {
  Database& db = *impl_->database;
  return db.InTransaction([&]() -> Status {
    TESSERA_TRY(const HistoryCursor here, Cursor());
    if (here != since) return OkStatus();  // another panel was faster; the next request fits
    if (!here.history.empty() && here.history != changes.next.history) {
      return FailedPrecondition(fmt::format("{}: a mirror of history {}, not of {}", db.path(),
                                            here.history, changes.next.history));
    }
    TESSERA_TRY(auto put, db.Prepare("INSERT OR REPLACE INTO events VALUES (?,?,?,?,?,?)"));
    for (const Event& event : changes.events) {
      TESSERA_RETURN_IF_ERROR(BindAll(put, event.sequence, event.time, ToString(event.severity),
                                      event.source, event.text, NoteText(event)));
      TESSERA_RETURN_IF_ERROR(put.Run());
    }
    TESSERA_RETURN_IF_ERROR(impl_->PutSamples(changes.samples, /*with_sequence=*/true));
    for (const HistoryEntry& entry : changes.transactions) {
      TESSERA_RETURN_IF_ERROR(impl_->PutTransaction(entry));
    }
    TESSERA_RETURN_IF_ERROR(impl_->SetAbout("mirror_of", cluster));
    TESSERA_RETURN_IF_ERROR(impl_->SetAbout("cursor_history", changes.next.history));
    TESSERA_RETURN_IF_ERROR(impl_->SetAbout("cursor_event", changes.next.event));
    TESSERA_RETURN_IF_ERROR(impl_->SetAbout("cursor_sample", changes.next.sample));
    TESSERA_RETURN_IF_ERROR(impl_->SetAbout("cursor_revision", changes.next.revision));

    TESSERA_TRY(const std::int64_t last, db.ReadInt("SELECT max(rowid) FROM covered"));
    if (changes.missing || last == 0) {
      const double began = Beginning(changes, now);
      TESSERA_TRY(auto begin, db.Prepare("INSERT INTO covered VALUES (?,?)"));
      TESSERA_RETURN_IF_ERROR(BindAll(begin, began, began));
      TESSERA_RETURN_IF_ERROR(begin.Run());
    }
    if (changes.more) return OkStatus();
    TESSERA_TRY(auto end, db.Prepare("UPDATE covered SET ended = max(ended, ?) WHERE rowid = "
                                     "(SELECT max(rowid) FROM covered)"));
    TESSERA_RETURN_IF_ERROR(end.Bind(0, now));
    return end.Run();
  });
}

Result<std::optional<std::string>> History::MirrorOf() {
  TESSERA_TRY(std::string cluster, impl_->About("mirror_of"));
  return cluster.empty() ? std::nullopt : std::optional(std::move(cluster));
}

Status History::NoteSimulated(const std::string& hardware) {
  return impl_->SetAbout("simulated", hardware);
}

Result<std::optional<std::string>> History::Simulated() {
  TESSERA_TRY(std::string hardware, impl_->About("simulated"));
  return hardware.empty() ? std::nullopt : std::optional(std::move(hardware));
}

Result<std::vector<TimeSpan>> History::Covered() {
  TESSERA_TRY(auto query,
              impl_->database->Prepare("SELECT began, ended FROM covered ORDER BY rowid"));
  std::vector<TimeSpan> spans;
  TESSERA_RETURN_IF_ERROR(ForEachRow(query, [&] {
    spans.push_back({query.Double(0), query.Double(1)});
  }));
  return spans;
}

Result<std::vector<TimeSpan>> History::Gaps() {
  TESSERA_TRY(const auto covered, Covered());
  std::vector<TimeSpan> gaps;
  for (std::size_t i = 1; i < covered.size(); ++i) {
    if (covered[i - 1].to < covered[i].from) gaps.push_back({covered[i - 1].to, covered[i].from});
  }
  return gaps;
}

}  // namespace tessera::engine
