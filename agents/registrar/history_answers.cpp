// SPDX-License-Identifier: Apache-2.0
#include "agents/registrar/history_answers.h"

#include <algorithm>

#include "agents/wire/convert.h"
#include "agents/wire/history_wire.h"
#include "agents/wire/tessera/wire/control.pb.h"

namespace tessera::agents {

Result<wire::Reply> AnswerFromHistory(engine::History& history, const wire::Request& request) {
  wire::Reply out;
  switch (request.body_case()) {
    case wire::Request::kHistory: {
      TESSERA_TRY(const auto query, Decode(request.history()));
      TESSERA_TRY(const auto rows, history.Transactions(query));
      out.mutable_history();
      for (const auto& row : rows) Encode(row, out.mutable_history()->add_entries());
      return out;
    }
    case wire::Request::kSamples: {
      TESSERA_TRY(const auto query, Decode(request.samples()));
      const std::int64_t points = std::min(request.samples().max_points(), kMaxHistoryRows);
      TESSERA_TRY(const auto rows, points > 0
                                       ? history.SamplesBetween(query.job, query.time, points)
                                       : history.Samples(query));
      out.mutable_samples();
      for (const auto& row : rows) Encode(row, out.mutable_samples()->add_samples());
      return out;
    }
    case wire::Request::kEvents: {
      TESSERA_TRY(const auto query, Decode(request.events()));
      TESSERA_TRY(const auto rows, history.Events(query));
      out.mutable_events();
      for (const auto& row : rows) Encode(row, out.mutable_events()->add_events());
      return out;
    }
    case wire::Request::kChanges: {
      TESSERA_TRY(const auto cursor, Decode(request.changes()));
      const std::int64_t limit =
          std::clamp<std::int64_t>(request.changes().limit(), 1, kMaxChanges);
      TESSERA_TRY(const auto changes, history.ChangesSince(cursor, limit));
      Encode(changes, out.mutable_changes());
      return out;
    }
    default:
      return Internal("a request that the history does not answer");
  }
}

}  // namespace tessera::agents
