// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/commands/start_wait.h"

#include <fmt/format.h>

#include <algorithm>
#include <thread>
#include <utility>

#include "agents/wire/tessera/wire/control.pb.h"
#include "app/commands/units.h"

namespace tessera::app {
namespace {

/// What the starting job does; empty if unknown.
std::string whatItDoes(const engine::ClusterSnapshot& snapshot, const std::string& name) {
  const auto& txn = snapshot.transaction;
  if (txn && txn->job == name && !engine::IsFinal(txn->phase))
    return fmt::format("{}, {} of {}", engine::ToString(txn->phase), formatBytes(txn->bytes_done),
                       formatBytes(txn->bytes_total));
  const auto job = std::ranges::find(snapshot.jobs, name, &engine::JobStatus::name);
  if (job == snapshot.jobs.end() || job->state != engine::JobState::kStarting) return "";
  return job->reason;
}

}  // namespace

Result<wire::Reply> startJob(Session& session, const wire::StartJobRequest& start,
                             const std::function<void(const std::string&)>& progress,
                             const Patience& limits) {
  wire::Request request;
  *request.mutable_start_job() = start;
  const LongRequest what{[name = start.name()](const engine::ClusterSnapshot& snapshot) {
                           return whatItDoes(snapshot, name);
                         },
                         fmt::format("job '{}' did not start within", start.name())};
  return askPatiently(session, std::move(request), what, progress, limits);
}

Result<engine::JobStatus> awaitFirstStep(Session& session, engine::JobStatus job,
                                         const FirstStepWait& wait) {
  constexpr std::chrono::milliseconds kLongestPoll{500};
  const auto end = std::chrono::steady_clock::now() + wait.limit;
  auto poll = wait.shortest_poll;
  const auto isOnItsWay = [&job] {
    return job.state == engine::JobState::kRunning || job.starts_again;
  };
  while (job.step <= wait.after && isOnItsWay()) {
    if (wait.is_interrupted() || std::chrono::steady_clock::now() >= end) break;
    std::this_thread::sleep_for(poll);
    poll = std::min(2 * poll, kLongestPoll);
    TESSERA_TRY(const auto snapshot, session.snapshot());
    const auto now = std::ranges::find(snapshot.jobs, job.name, &engine::JobStatus::name);
    if (now == snapshot.jobs.end())
      return NotFound(fmt::format("job '{}' was stopped before its first step", job.name));
    job = *now;
  }
  return job;
}

}  // namespace tessera::app
