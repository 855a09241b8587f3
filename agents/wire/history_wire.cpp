// SPDX-License-Identifier: Apache-2.0
#include "agents/wire/history_wire.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "agents/wire/convert.h"
#include "agents/wire/tessera/wire/history.pb.h"
#include "agents/wire/utf8.h"

namespace tessera::agents {
namespace {

std::int64_t Limited(std::int64_t limit) {
  return limit <= 0 ? kMaxHistoryRows : std::min(limit, kMaxHistoryRows);
}

}  // namespace

void Encode(const engine::TimeRange& range, wire::TimeRange* out) {
  if (range.from) out->set_from(*range.from);
  if (range.to) out->set_to(*range.to);
}

Result<engine::TimeRange> Decode(const wire::TimeRange& in) {
  engine::TimeRange range;
  if (in.has_from()) range.from = in.from();
  if (in.has_to()) range.to = in.to();
  for (const auto& end : {range.from, range.to}) {
    if (end && !std::isfinite(*end))
      return InvalidArgument("an end of a time range is not a number");
  }
  return range;
}

void Encode(const engine::TransactionQuery& query, wire::HistoryRequest* out) {
  out->set_job(Utf8(query.job));
  out->set_limit(query.limit);
  if (query.id) out->set_transaction(*query.id);
  if (query.before) out->set_before(*query.before);
  Encode(query.time, out->mutable_time());
  if (query.origin) out->set_origin(*query.origin);
  out->set_all_of_name(query.all_of_name);
}

Result<engine::TransactionQuery> Decode(const wire::HistoryRequest& in) {
  engine::TransactionQuery query;
  query.job = in.job();
  query.limit = Limited(in.limit());
  if (in.has_transaction()) query.id = in.transaction();
  if (in.has_before()) query.before = in.before();
  TESSERA_TRY(query.time, Decode(in.time()));
  if (in.has_origin()) query.origin = in.origin();
  query.all_of_name = in.all_of_name();
  return query;
}

void Encode(const engine::EventQuery& query, wire::EventsRequest* out) {
  out->set_after_sequence(query.after);
  out->set_limit(query.limit);
  Encode(query.time, out->mutable_time());
  out->set_min_severity(static_cast<std::uint32_t>(query.least));
  out->set_source(Utf8(query.source));
  out->set_text(Utf8(query.text));
  out->set_oldest(!query.newest);
  out->set_notes(query.notes);
}

Result<engine::EventQuery> Decode(const wire::EventsRequest& in) {
  engine::EventQuery query;
  query.after = in.after_sequence();
  query.limit = Limited(in.limit());
  TESSERA_TRY(query.time, Decode(in.time()));
  if (in.min_severity() > static_cast<std::uint32_t>(engine::Severity::kError)) {
    return InvalidArgument("severity " + std::to_string(in.min_severity()) + " is above " +
                           std::to_string(static_cast<int>(engine::Severity::kError)));
  }
  query.least = static_cast<engine::Severity>(in.min_severity());
  query.source = in.source();
  query.text = in.text();
  query.newest = !in.oldest();
  query.notes = in.notes();
  return query;
}

void Encode(const engine::SampleQuery& query, wire::SamplesRequest* out) {
  out->set_job(Utf8(query.job));
  out->set_after_step(query.after_step.value_or(-1));
  out->set_limit(query.limit);
  Encode(query.time, out->mutable_time());
  out->set_after_sequence(query.after);
  out->set_newest(query.newest);
  if (query.origin) out->set_origin(*query.origin);
  out->set_all_of_name(query.all_of_name);
}

Result<engine::SampleQuery> Decode(const wire::SamplesRequest& in) {
  engine::SampleQuery query;
  query.job = in.job();
  if (!in.job().empty()) query.after_step = in.after_step();
  query.after = in.after_sequence();
  query.limit = Limited(in.limit());
  TESSERA_TRY(query.time, Decode(in.time()));
  query.newest = in.newest();
  if (in.has_origin()) query.origin = in.origin();
  query.all_of_name = in.all_of_name();
  return query;
}

void Encode(const engine::HistoryCursor& cursor, wire::ChangesRequest* out) {
  out->set_history(Utf8(cursor.history));
  out->set_event(cursor.event);
  out->set_sample(cursor.sample);
  out->set_revision(cursor.revision);
}

Result<engine::HistoryCursor> Decode(const wire::ChangesRequest& in) {
  return engine::HistoryCursor{in.history(), in.event(), in.sample(), in.revision()};
}

void Encode(const engine::HistoryChanges& changes, wire::ChangesReply* out) {
  Encode(changes.next, out->mutable_next());
  out->set_missing(changes.missing);
  out->set_more(changes.more);
  for (const auto& event : changes.events) Encode(event, out->add_events());
  for (const auto& sample : changes.samples) Encode(sample, out->add_samples());
  for (const auto& entry : changes.transactions) Encode(entry, out->add_transactions());
}

Result<engine::HistoryChanges> Decode(const wire::ChangesReply& in) {
  engine::HistoryChanges changes;
  TESSERA_TRY(changes.next, Decode(in.next()));
  if (changes.next.history.empty()) return InvalidArgument("changes of a history without an id");
  changes.missing = in.missing();
  changes.more = in.more();
  TESSERA_TRY(changes.events, DecodeAll<engine::Event>(in.events()));
  TESSERA_TRY(changes.samples, DecodeAll<engine::Sample>(in.samples()));
  TESSERA_TRY(changes.transactions, DecodeAll<engine::HistoryEntry>(in.transactions()));
  return changes;
}

}  // namespace tessera::agents
