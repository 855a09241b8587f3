// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/commands/past.h"

#include <fmt/format.h>

#include <thread>
#include <utility>

#include "agents/wire/convert.h"
#include "agents/wire/history_wire.h"
#include "agents/wire/tessera/wire/control.pb.h"

namespace tessera::app {
namespace {

constexpr std::int64_t kPage = 2000;
constexpr std::int64_t kTransactionPage =
    100;  // smaller, because transactions have phases and flows

/// `next` moves the query past the last row.
template <typename Query, typename Each, typename Next>
Status pageThrough(Session& session, Query query, std::int64_t page, const Each& each,
                   const Next& next) {
  query.limit = page;
  for (;;) {
    TESSERA_TRY(const auto rows, ask(session, query));
    for (const auto& row : rows) TESSERA_RETURN_IF_ERROR(each(row));
    if (std::ssize(rows) < page) return OkStatus();
    next(query, rows.back());
  }
}

}  // namespace

Result<std::vector<engine::HistoryEntry>> ask(Session& session,
                                              const engine::TransactionQuery& query) {
  wire::Request request;
  agents::Encode(query, request.mutable_history());
  TESSERA_TRY(const auto reply, session.ask(std::move(request)));
  return agents::DecodeAll<engine::HistoryEntry>(reply.history().entries());
}

Result<std::vector<engine::Event>> ask(Session& session, const engine::EventQuery& query) {
  wire::Request request;
  agents::Encode(query, request.mutable_events());
  TESSERA_TRY(const auto reply, session.ask(std::move(request)));
  return agents::DecodeAll<engine::Event>(reply.events().events());
}

Result<std::vector<engine::Sample>> ask(Session& session, const engine::SampleQuery& query) {
  wire::Request request;
  agents::Encode(query, request.mutable_samples());
  TESSERA_TRY(const auto reply, session.ask(std::move(request)));
  return agents::DecodeAll<engine::Sample>(reply.samples().samples());
}

Status forEach(Session& session, engine::TransactionQuery query,
               const std::function<Status(const engine::HistoryEntry&)>& each) {
  return pageThrough(session, std::move(query), kTransactionPage, each,
                     [](auto& q, const engine::HistoryEntry& last) { q.before = last.id; });
}

Status forEach(Session& session, engine::EventQuery query,
               const std::function<Status(const engine::Event&)>& each) {
  query.newest = false;
  return pageThrough(session, std::move(query), kPage, each,
                     [](auto& q, const engine::Event& last) { q.after = last.sequence; });
}

Status forEach(Session& session, engine::SampleQuery query,
               const std::function<Status(const engine::Sample&)>& each) {
  query.newest = false;
  return pageThrough(session, std::move(query), kPage, each,
                     [](auto& q, const engine::Sample& last) {
                       if (q.job.empty() || q.after > 0)
                         q.after = last.sequence;
                       else
                         q.after_step = last.step;
                     });
}

bool waitsForRegistrar(const Error& error, bool& said) {
  if (error.code != ErrorCode::kUnavailable && error.code != ErrorCode::kTimeout) return false;
  if (!std::exchange(said, true)) fmt::print(stderr, "tesseractl: {}; waiting\n", error.ToString());
  std::this_thread::sleep_for(std::chrono::seconds(1));
  return true;
}

}  // namespace tessera::app
