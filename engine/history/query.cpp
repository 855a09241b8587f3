// SPDX-License-Identifier: Apache-2.0
// Reading a history.
#include "engine/history/query.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>
#include <variant>

#include "engine/history/decimate.h"
#include "engine/history/history_impl.h"

namespace tessera::engine {
namespace {

constexpr std::array kSeverities = {Severity::kDebug, Severity::kInfo, Severity::kWarning,
                                    Severity::kError};

/// Builds a WHERE clause and its values.
class Conditions {
 public:
  using Value = std::variant<std::int64_t, double, std::string>;

  void Add(std::string_view condition) {
    text_ += fmt::format("{} {}", text_.empty() ? " WHERE" : " AND", condition);
  }
  void Add(std::string_view condition, Value value) {
    Add(condition);
    values_.push_back(std::move(value));
  }
  void Add(std::string_view column, const TimeRange& time) {
    if (time.from) Add(fmt::format("{} >= ?", column), *time.from);
    if (time.to) Add(fmt::format("{} < ?", column), *time.to);
  }

  /// SELECT columns FROM table WHERE … `end`, which may have one more parameter, a limit.
  Result<Statement> Prepare(Database& database, std::string_view columns, std::string_view table,
                            std::string_view end, std::optional<std::int64_t> limit) {
    TESSERA_TRY(auto query, database.Prepare(
                                fmt::format("SELECT {} FROM {}{} {}", columns, table, text_, end)));
    int parameter = 0;
    for (const Value& value : values_) {
      TESSERA_RETURN_IF_ERROR(
          std::visit([&](const auto& v) { return query.Bind(parameter++, v); }, value));
    }
    if (limit) TESSERA_RETURN_IF_ERROR(query.Bind(parameter, LimitOf(*limit)));
    return query;
  }

 private:
  std::string text_;
  std::vector<Value> values_;
};

/// The job that a query of one name is about; nullopt: all that had the name.
template <typename Query>
Result<std::optional<std::int64_t>> OriginAsked(History& history, const Query& asked) {
  if (asked.all_of_name) return std::optional<std::int64_t>();
  if (asked.origin) return asked.origin;
  TESSERA_TRY(const std::int64_t latest, history.LatestOrigin(asked.job));
  return std::optional(latest);
}

/// A LIKE pattern for texts that contain `part`.
std::string Containing(std::string_view part) {
  std::string pattern = "%";
  for (const char c : part) {
    if (c == '%' || c == '_' || c == '\\') pattern += '\\';
    pattern += c;
  }
  return pattern + "%";
}

}  // namespace

Result<HistoryEntry> ReadTransaction(const Statement& row, const std::string& path) {
  HistoryEntry e;
  e.id = row.Int(0);
  e.job = row.Text(1);
  e.from = row.Text(2);
  e.to = row.Text(3);
  e.started = row.Double(4);
  e.result = row.Text(5);
  e.reason = row.Text(6);
  e.pause = row.Double(7);
  e.bytes_moved = row.Int(8);
  e.volume_bound = row.Int(9);
  e.digest_before = row.Text(10);
  e.digest_after = row.Text(11);
  e.step = row.Int(12);
  e.epoch = row.Int(13);
  auto from_options = ParseStepOptions(row.Text(14));
  auto to_options = ParseStepOptions(row.Text(15));
  for (const auto* options : {&from_options, &to_options}) {
    if (!*options) {
      return DataLoss(fmt::format("{}: transaction {}: {}", path, e.id, options->error().message));
    }
  }
  e.from_options = *from_options;
  e.to_options = *to_options;
  e.requester = row.Text(16);
  e.kept = row.Int(17);
  e.device = row.Int(18);
  e.host = row.Int(19);
  e.network = row.Int(20);
  e.pause_estimate = row.IsNull(21) ? 0 : row.Double(21);
  auto in_rounds = ParseMoveInRounds(row.Text(22));
  if (!in_rounds) {
    return DataLoss(fmt::format("{}: transaction {}: {}", path, e.id, in_rounds.error().message));
  }
  e.in_rounds = std::move(*in_rounds);
  e.gradients_planned = row.Int(23);
  e.gradients_moved = row.Int(24);
  e.origin = row.Int(25);
  if (const std::string kind = row.Text(26); !kind.empty()) {
    const auto known = ParseChangeKind(kind);
    if (!known) {
      return DataLoss(fmt::format("{}: transaction {}: {}", path, e.id, known.error().message));
    }
    e.kind = *known;
  }
  if (!row.IsNull(27)) e.gap = row.Double(27);
  return e;
}

Status ReadParts(Database& database, std::vector<HistoryEntry>& entries) {
  TESSERA_TRY(auto phases,
              database.Prepare("SELECT phase, seconds FROM transaction_phases WHERE id = ?"));
  TESSERA_TRY(auto flows, database.Prepare("SELECT source, destination, bytes_done, bytes_total, "
                                           "bytes_per_second FROM transaction_flows WHERE id = ?"));
  for (HistoryEntry& entry : entries) {
    TESSERA_RETURN_IF_ERROR(phases.Bind(0, entry.id));
    TESSERA_RETURN_IF_ERROR(
        ForEachRow(phases, [&] { entry.phases.emplace(phases.Text(0), phases.Double(1)); }));
    TESSERA_RETURN_IF_ERROR(flows.Bind(0, entry.id));
    TESSERA_RETURN_IF_ERROR(ForEachRow(flows, [&]() -> Status {
      const auto source = ptc::ParseDevice(flows.Text(0));
      const auto destination = ptc::ParseDevice(flows.Text(1));
      if (!source || !destination) {
        return DataLoss(fmt::format("{}: transaction {}: flow from '{}' to '{}'", database.path(),
                                    entry.id, flows.Text(0), flows.Text(1)));
      }
      entry.flows.push_back({*source, *destination, flows.Int(2), flows.Int(3), flows.Double(4)});
      return OkStatus();
    }));
    std::ranges::sort(entry.flows, {}, [](const FlowStatus& flow) {
      return std::pair(flow.source, flow.destination);
    });
  }
  return OkStatus();
}

Result<Event> ReadEvent(const Statement& row, const std::string& path) {
  const auto severity = ParseSeverity(row.Text(2));
  if (!severity) {
    return DataLoss(fmt::format("{}: event {}: {}", path, row.Int(0), severity.error().message));
  }
  Event event{row.Int(0), row.Double(1), *severity, row.Text(3), row.Text(4)};
  if (const std::string text = row.Text(5); !text.empty()) {
    auto note = ParseNodeNote(text);
    if (!note) {
      return DataLoss(fmt::format("{}: event {}: {}", path, row.Int(0), note.error().message));
    }
    event.note = std::move(*note);
  }
  return event;
}

std::string NoteText(const Event& event) { return event.note ? ToString(*event.note) : ""; }

Sample ReadSample(const Statement& row) {
  Sample sample{row.Text(0),   row.Int(1),    row.Double(2), row.Double(3),
                row.Double(4), row.Double(5), row.Int(6)};
  sample.origin = row.Int(7);
  return sample;
}

Status ReadMetrics(Database& database, std::vector<Sample>& samples) {
  TESSERA_TRY(const std::int64_t any,
              database.ReadInt("SELECT EXISTS (SELECT 1 FROM sample_metrics)"));
  if (any == 0) return OkStatus();
  TESSERA_TRY(auto rows,
              database.Prepare("SELECT name, value FROM sample_metrics WHERE sequence = ?"));
  for (Sample& sample : samples) {
    TESSERA_RETURN_IF_ERROR(rows.Bind(0, sample.sequence));
    TESSERA_RETURN_IF_ERROR(
        ForEachRow(rows, [&] { sample.metrics.emplace(rows.Text(0), rows.Double(1)); }));
  }
  return OkStatus();
}

// ---- transactions

Result<std::vector<HistoryEntry>> History::Transactions(const TransactionQuery& asked) {
  Database& db = *impl_->database;
  Conditions where;
  if (!asked.job.empty()) {
    where.Add("job = ?", asked.job);
    TESSERA_TRY(const auto origin, OriginAsked(*this, asked));
    if (origin) where.Add("origin = ?", *origin);
  }
  if (asked.id) where.Add("id = ?", *asked.id);
  if (asked.before) where.Add("id < ?", *asked.before);
  where.Add("started", asked.time);
  if (asked.open) where.Add("result = ''");
  TESSERA_TRY(auto query, where.Prepare(db, kTransactionColumns, "transactions",
                                        "ORDER BY id DESC LIMIT ?", asked.limit));
  std::vector<HistoryEntry> entries;
  TESSERA_RETURN_IF_ERROR(ForEachRow(query, [&]() -> Status {
    TESSERA_TRY(auto entry, ReadTransaction(query, db.path()));
    entries.push_back(std::move(entry));
    return OkStatus();
  }));
  TESSERA_RETURN_IF_ERROR(ReadParts(db, entries));
  return entries;
}

Result<std::vector<HistoryEntry>> History::Transactions(std::string_view job, std::int64_t limit) {
  TransactionQuery query;
  query.job = job;
  query.limit = limit;
  return Transactions(query);
}

Result<std::optional<HistoryEntry>> History::Transaction(std::int64_t id) {
  TransactionQuery query;
  query.id = id;
  TESSERA_TRY(auto entries, Transactions(query));
  return entries.empty() ? std::nullopt : std::optional(std::move(entries.front()));
}

// ---- events

Result<std::vector<Event>> History::Events(const EventQuery& asked) {
  Database& db = *impl_->database;
  Conditions where;
  where.Add("sequence > ?", asked.after);
  where.Add("time", asked.time);
  if (asked.least > Severity::kDebug) {
    std::string names;  // as in the index events_of_note
    for (const Severity severity : kSeverities) {
      if (severity < asked.least) continue;
      names += fmt::format("{}'{}'", names.empty() ? "" : ", ", ToString(severity));
    }
    if (asked.least == Severity::kError) where.Add("severity IN ('warning', 'error')");
    where.Add(fmt::format("severity IN ({})", names));
  }
  if (!asked.source.empty()) where.Add("source = ?", asked.source);
  if (asked.notes) where.Add("note <> ''");  // as in the index events_of_nodes
  if (!asked.text.empty()) where.Add("text LIKE ? ESCAPE '\\'", Containing(asked.text));
  const bool backwards = asked.newest && asked.limit > 0;
  TESSERA_TRY(auto query, where.Prepare(db, kEventColumns, "events",
                                        backwards ? "ORDER BY sequence DESC LIMIT ?"
                                                  : "ORDER BY sequence LIMIT ?",
                                        asked.limit));
  std::vector<Event> events;
  TESSERA_RETURN_IF_ERROR(ForEachRow(query, [&]() -> Status {
    TESSERA_TRY(auto event, ReadEvent(query, db.path()));
    events.push_back(std::move(event));
    return OkStatus();
  }));
  if (backwards) std::ranges::reverse(events);
  return events;
}

Result<std::vector<Event>> History::Events(std::int64_t after_sequence, std::int64_t limit) {
  EventQuery query;
  query.after = after_sequence;
  query.limit = limit;
  return Events(query);
}

Result<std::int64_t> History::LastEvent() {
  return impl_->database->ReadInt("SELECT ifnull(max(sequence), 0) FROM events");
}

// ---- samples

Result<std::vector<Sample>> History::Samples(const SampleQuery& asked) {
  Conditions where;
  where.Add("undone = 0");
  // Within a job, sequence numbers and steps ascend together, so either order is right. The faster
  // one starts behind the known rows. The plus keeps SQLite from using the other index.
  const bool is_one_job = !asked.job.empty() && !asked.all_of_name;
  const bool by_sequence = !is_one_job || asked.after > 0;
  if (!asked.job.empty()) where.Add(by_sequence ? "+job = ?" : "job = ?", asked.job);
  if (is_one_job) {
    TESSERA_TRY(const auto origin, OriginAsked(*this, asked));
    where.Add(by_sequence ? "+origin = ?" : "origin = ?", *origin);
  }
  if (asked.after_step) where.Add("step > ?", *asked.after_step);
  if (by_sequence) where.Add("sequence > ?", asked.after);
  where.Add("time", asked.time);
  const bool backwards = asked.newest && asked.limit > 0;
  const std::string end = fmt::format("ORDER BY {}{} LIMIT ?", is_one_job ? "step" : "sequence",
                                      backwards ? " DESC" : "");
  TESSERA_TRY(auto query,
              where.Prepare(*impl_->database, kSampleColumns, "samples", end, asked.limit));
  std::vector<Sample> samples;
  TESSERA_RETURN_IF_ERROR(ForEachRow(query, [&] { samples.push_back(ReadSample(query)); }));
  TESSERA_RETURN_IF_ERROR(ReadMetrics(*impl_->database, samples));
  if (backwards) std::ranges::reverse(samples);
  return samples;
}

Result<std::vector<Sample>> History::Samples(std::string_view job, std::int64_t after_step,
                                             std::int64_t limit) {
  SampleQuery query;
  query.job = job;
  query.after_step = after_step;
  query.limit = limit;
  return Samples(query);
}

Result<std::vector<Sample>> History::SamplesBetween(std::string_view job, const TimeRange& time,
                                                    std::int64_t max_points) {
  Database& db = *impl_->database;
  Conditions where;
  where.Add("job = ?", std::string(job));
  TESSERA_TRY(const std::int64_t origin, LatestOrigin(job));
  where.Add("origin = ?", origin);
  where.Add("time", time);
  TESSERA_TRY(auto ends, where.Prepare(db, "min(time), max(time), count(*)", "samples", "", {}));
  TESSERA_TRY(const bool any, ends.Step());
  if (!any || ends.Int(2) == 0) return std::vector<Sample>();
  const bool all = max_points <= 0 || ends.Int(2) <= max_points;
  Decimator decimator(time.from.value_or(ends.Double(0)), time.to.value_or(ends.Double(1)),
                      max_points);
  ends.Reset();
  TESSERA_TRY(auto query,
              where.Prepare(db, kSampleColumns, "samples", "ORDER BY time, sequence", {}));
  std::vector<Sample> samples;
  TESSERA_RETURN_IF_ERROR(ForEachRow(query, [&] {
    const Sample sample = ReadSample(query);
    if (all) {
      samples.push_back(sample);
    } else {
      decimator.Add(sample, sample.time);
    }
  }));
  if (!all) samples = decimator.Take();
  TESSERA_RETURN_IF_ERROR(ReadMetrics(db, samples));
  return samples;
}

Result<std::int64_t> History::LatestOrigin(std::string_view job) {
  TESSERA_TRY(auto query, impl_->database->Prepare(
                              "SELECT ifnull(max(origin), 0) FROM ("
                              "SELECT max(origin) AS origin FROM samples "
                              "WHERE job = ? AND undone = 0 "
                              "UNION ALL SELECT max(origin) FROM transactions WHERE job = ?)"));
  TESSERA_RETURN_IF_ERROR(BindAll(query, job, job));
  TESSERA_TRY(const bool row, query.Step());
  return row ? query.Int(0) : 0;
}

Result<std::vector<std::string>> History::Jobs() {
  // Skips from job to job in the index instead of reading all samples.
  TESSERA_TRY(auto query, impl_->database->Prepare(R"(
      WITH RECURSIVE of_samples (job) AS (
        SELECT min(job) FROM samples
        UNION ALL
        SELECT (SELECT min(job) FROM samples WHERE job > of_samples.job) FROM of_samples
          WHERE of_samples.job IS NOT NULL)
      SELECT job FROM of_samples WHERE job IS NOT NULL UNION SELECT job FROM transactions
      ORDER BY job)"));
  std::vector<std::string> jobs;
  TESSERA_RETURN_IF_ERROR(ForEachRow(query, [&] { jobs.push_back(query.Text(0)); }));
  return jobs;
}

}  // namespace tessera::engine
