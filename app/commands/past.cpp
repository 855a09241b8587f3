// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/commands/past.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>
#include <thread>
#include <utility>

#include "agents/wire/convert.h"
#include "agents/wire/history_wire.h"
#include "agents/wire/tessera/wire/control.pb.h"
#include "app/commands/cluster_choice.h"
#include "app/commands/host_cluster.h"
#include "app/commands/kept_history.h"
#include "app/commands/local_cluster.h"

namespace tessera::app {
namespace {

constexpr std::int64_t kPage = 2000;
constexpr std::int64_t kTransactionPage =
    100;  // smaller, because transactions have phases and flows

/// `next` moves the query past the last row.
template <typename Query, typename Each, typename Next>
Status pageThrough(const Past& past, Query query, std::int64_t page, const Each& each,
                   const Next& next) {
  query.limit = page;
  for (;;) {
    TESSERA_TRY(const auto rows, past.ask(query));
    for (const auto& row : rows) TESSERA_RETURN_IF_ERROR(each(row));
    if (std::ssize(rows) < page) return OkStatus();
    next(query, rows.back());
  }
}

}  // namespace

Result<Past> Past::open(const Invocation& call) {
  Past past;
  auto session = openSession(call);
  if (session) {
    past.m_own = std::make_unique<Session>(std::move(*session));
    past.m_session = past.m_own.get();
    return past;
  }
  TESSERA_TRY(std::string cluster, clusterOf(call.cluster));
  if (const auto profile = agents::LoadProfile(cluster)) cluster = profile->cluster_name();
  if (!hasFolder(cluster) || isRunning(localClusterFolder(cluster))) return session.error();
  // A history in the folder here may be that of an earlier cluster.
  if (const auto there = historyOnHost(cluster))
    return Unavailable(fmt::format("cluster '{}' is not running; {}", cluster, *there));
  const auto file = keptHistory(localClusterFolder(cluster));
  if (!file)
    return Unavailable(fmt::format("cluster '{}' is not running, and no history of it is in {}",
                                   cluster, localClusterFolder(cluster)));
  TESSERA_TRY(past.m_file, engine::History::OpenReadOnly(*file));
  fmt::print(stderr, "note: cluster '{}' is not running; its history is read from {}\n", cluster,
             *file);
  return past;
}

Result<std::vector<engine::HistoryEntry>> Past::ask(const engine::TransactionQuery& query) const {
  if (m_file) return m_file->Transactions(query);
  wire::Request request;
  agents::Encode(query, request.mutable_history());
  TESSERA_TRY(const auto reply, m_session->ask(std::move(request)));
  return agents::DecodeAll<engine::HistoryEntry>(reply.history().entries());
}

Result<std::vector<engine::Event>> Past::ask(const engine::EventQuery& query) const {
  if (m_file) return m_file->Events(query);
  wire::Request request;
  agents::Encode(query, request.mutable_events());
  TESSERA_TRY(const auto reply, m_session->ask(std::move(request)));
  return agents::DecodeAll<engine::Event>(reply.events().events());
}

Result<std::vector<engine::Sample>> Past::ask(const engine::SampleQuery& query) const {
  if (m_file) return m_file->Samples(query);
  wire::Request request;
  agents::Encode(query, request.mutable_samples());
  TESSERA_TRY(const auto reply, m_session->ask(std::move(request)));
  return agents::DecodeAll<engine::Sample>(reply.samples().samples());
}

Result<bool> Past::knows(const std::string& job) const {
  engine::SampleQuery samples;
  samples.job = job;
  samples.limit = 1;
  TESSERA_TRY(const auto steps, ask(samples));
  if (!steps.empty()) return true;
  engine::TransactionQuery transactions;
  transactions.job = job;
  transactions.limit = 1;
  TESSERA_TRY(const auto changes, ask(transactions));
  if (!changes.empty()) return true;
  engine::EventQuery events;  // of a job that has made no step
  events.source = job;
  events.limit = 1;
  TESSERA_TRY(const auto said, ask(events));
  return !said.empty();
}

Result<std::set<std::string>> Past::knownJobs() const {
  std::set<std::string> names;
  if (m_file) {
    TESSERA_TRY(const auto jobs, m_file->Jobs());
    names.insert(jobs.begin(), jobs.end());
    return names;
  }
  constexpr std::int64_t kRows = 1000;
  TESSERA_TRY(const auto now, m_session->snapshot());
  for (const engine::JobStatus& job : now.jobs) names.insert(job.name);
  engine::SampleQuery samples;
  samples.limit = kRows;
  samples.newest = true;
  TESSERA_TRY(const auto steps, ask(samples));
  for (const engine::Sample& sample : steps) names.insert(sample.job);
  engine::TransactionQuery transactions;
  transactions.limit = kRows;
  TESSERA_TRY(const auto changes, ask(transactions));
  for (const engine::HistoryEntry& change : changes) names.insert(change.job);
  return names;
}

Status Past::checkJob(const std::string& job) const {
  TESSERA_TRY(const bool is_known, knows(job));
  if (is_known) return OkStatus();
  TESSERA_TRY(const auto names, knownJobs());
  if (names.contains(job)) return OkStatus();
  return NotFound(names.empty()
                      ? fmt::format("no job '{}': no job is known", job)
                      : fmt::format("no job '{}'; known are {}", job, fmt::join(names, ", ")));
}

Status forEach(const Past& past, engine::TransactionQuery query,
               const std::function<Status(const engine::HistoryEntry&)>& each) {
  return pageThrough(past, std::move(query), kTransactionPage, each,
                     [](auto& q, const engine::HistoryEntry& last) { q.before = last.id; });
}

Status forEach(const Past& past, engine::EventQuery query,
               const std::function<Status(const engine::Event&)>& each) {
  query.newest = false;
  return pageThrough(past, std::move(query), kPage, each,
                     [](auto& q, const engine::Event& last) { q.after = last.sequence; });
}

Status forEach(const Past& past, engine::SampleQuery query,
               const std::function<Status(const engine::Sample&)>& each) {
  query.newest = false;
  return pageThrough(past, std::move(query), kPage, each, [](auto& q, const engine::Sample& last) {
    if (q.job.empty() || q.all_of_name || q.after > 0)
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
