// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/commands/start_wait.h"

#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <memory>

#include "agents/wire/tessera/wire/control.pb.h"

namespace tessera::app {
namespace {

using Clock = std::chrono::steady_clock;

/// What the starting job does; empty if unknown.
Result<std::string> whatItDoes(Session& session, const std::string& name) {
  TESSERA_TRY(const auto snapshot, session.snapshot());
  const auto job = std::ranges::find(snapshot.jobs, name, &engine::JobStatus::name);
  if (job == snapshot.jobs.end() || job->state != engine::JobState::kStarting) return "";
  return job->reason;
}

}  // namespace

Result<wire::Reply> startJob(Session& session, const wire::StartJobRequest& start,
                             const std::function<void(const std::string&)>& progress,
                             const StartPatience& limits) {
  constexpr std::chrono::hours kAsLongAsItTakes{24 * 14};  // the wait below ends sooner
  wire::Request request;
  *request.mutable_start_job() = start;
  const auto answer = std::make_shared<std::promise<Result<wire::Reply>>>();
  auto reply = answer->get_future();
  session.client->Call(std::move(request), kAsLongAsItTakes, [answer](Result<wire::Reply> result) {
    answer->set_value(std::move(result));
  });
  auto heard = Clock::now();
  std::string last;
  while (reply.wait_for(limits.poll) != std::future_status::ready) {
    const auto doing = whatItDoes(session, start.name());
    progress(doing.value_or(""));
    if (doing && !doing->empty()) {
      heard = Clock::now();
      last = *doing;
    }
    if (Clock::now() - heard <= limits.patience) continue;
    if (!doing) return doing.error();
    return Timeout(fmt::format(
        "job '{}' did not start within {} s{}; `tesseractl status` shows whether it still starts",
        start.name(), std::chrono::duration_cast<std::chrono::seconds>(limits.patience).count(),
        last.empty() ? "" : " after its last progress: " + last));
  }
  progress({});
  return reply.get();
}

}  // namespace tessera::app
