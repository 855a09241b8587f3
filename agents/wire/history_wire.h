// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Converts between the messages of history.proto and the values of engine/history. Decoding checks
/// every enum and range, as in convert.h.

#include "agents/wire/messages_fwd.h"
#include "engine/history/changes.h"
#include "engine/history/query.h"
#include "ptc/base/result.h"

namespace tessera::agents {

/// The most rows of one reply. A client requests the next rows from there.
inline constexpr std::int64_t kMaxHistoryRows = 20000;
/// The most rows of each kind in one ChangesReply.
inline constexpr std::int64_t kMaxChanges = 2000;

void Encode(const engine::TransactionQuery& query, wire::HistoryRequest* out);
void Encode(const engine::EventQuery& query, wire::EventsRequest* out);
void Encode(const engine::SampleQuery& query, wire::SamplesRequest* out);
void Encode(const engine::HistoryCursor& cursor, wire::ChangesRequest* out);
void Encode(const engine::HistoryChanges& changes, wire::ChangesReply* out);

/// Decoded limits are within 1…kMaxHistoryRows.
Result<engine::TransactionQuery> Decode(const wire::HistoryRequest& in);
Result<engine::EventQuery> Decode(const wire::EventsRequest& in);
Result<engine::SampleQuery> Decode(const wire::SamplesRequest& in);
Result<engine::HistoryCursor> Decode(const wire::ChangesRequest& in);
Result<engine::HistoryChanges> Decode(const wire::ChangesReply& in);
Result<engine::TimeRange> Decode(const wire::TimeRange& in);
void Encode(const engine::TimeRange& range, wire::TimeRange* out);

}  // namespace tessera::agents
