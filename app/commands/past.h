// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// Reads the history of a cluster from the registrar, page by page.

#include <functional>
#include <vector>

#include "app/commands/session.h"
#include "engine/history/query.h"

namespace tessera::app {

Result<std::vector<engine::HistoryEntry>> ask(Session& session,
                                              const engine::TransactionQuery& query);
Result<std::vector<engine::Event>> ask(Session& session, const engine::EventQuery& query);
Result<std::vector<engine::Sample>> ask(Session& session, const engine::SampleQuery& query);

/// Calls `each` for every row of the query, in its order, with one page in memory at a time.
/// Ignores `limit` and `newest`.
/// \error also the first error of `each`
Status forEach(Session& session, engine::TransactionQuery query,
               const std::function<Status(const engine::HistoryEntry&)>& each);
Status forEach(Session& session, engine::EventQuery query,
               const std::function<Status(const engine::Event&)>& each);
Status forEach(Session& session, engine::SampleQuery query,
               const std::function<Status(const engine::Sample&)>& each);

/// For commands that follow the cluster. If the registrar may return, prints that once on stderr,
/// waits a second and returns true.
bool waitsForRegistrar(const Error& error, bool& said);

}  // namespace tessera::app
