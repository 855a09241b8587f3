// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The past of a cluster as commands read it: page by page from the registrar.

#include <functional>
#include <vector>

#include "app/commands/session.h"
#include "engine/history/query.h"

namespace tessera::app {

Result<std::vector<engine::HistoryEntry>> ask(Session& session,
                                              const engine::TransactionQuery& query);
Result<std::vector<engine::Event>> ask(Session& session, const engine::EventQuery& query);
Result<std::vector<engine::Sample>> ask(Session& session, const engine::SampleQuery& query);

/// Calls `each` for every row of the query, in its order; only a page is in memory at a time.
/// `limit` and `newest` are not read. \error also of `each`, which ends it
Status forEach(Session& session, engine::TransactionQuery query,
               const std::function<Status(const engine::HistoryEntry&)>& each);
Status forEach(Session& session, engine::EventQuery query,
               const std::function<Status(const engine::Event&)>& each);
Status forEach(Session& session, engine::SampleQuery query,
               const std::function<Status(const engine::Sample&)>& each);

/// For what follows the cluster: true where the registrar is only away for now (it may come back),
/// after having waited for a moment. Says so once on stderr.
bool waitsForRegistrar(const Error& error, bool& said);

}  // namespace tessera::app
