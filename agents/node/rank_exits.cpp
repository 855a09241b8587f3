// SPDX-License-Identifier: Apache-2.0
#include "agents/node/rank_exits.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <string>
#include <utility>

#include "agents/job/tessera_job.h"
#include "agents/keeper/child.h"
#include "agents/node/rank_tag.h"
#include "agents/wire/convert.h"
#include "agents/wire/utf8.h"

namespace tessera::agents {

bool RankExits::OnExited(const KeeperLink::Rank& exited) {
  const auto tag = ParseTag(exited.tag);
  const auto rank = tag ? ranks_.Remove(tag->first, exited.pid) : std::nullopt;
  if (!rank) {
    static_cast<void>(links_.keeper->Acknowledge(exited.pid));
    return false;
  }
  const auto joining = find_joining_(rank->id);
  const HeldJobs::Job* job = jobs_.Find(rank->id.job);
  const bool belongs = joining || (job && job->row.layout.mesh().RankOf(rank->id.device));
  // A rank exits after it has left the layout. An earlier agent of this node may have sent it the
  // command.
  const bool exit_expected = rank->exit_expected || !belongs;
  if (exit_expected) {
    static_cast<void>(links_.keeper->Acknowledge(exited.pid));
    return true;
  }
  // From the commit on, a joining rank is a rank of the job.
  const bool is_joiner = joining && !joining->is_committed;
  Report(*rank, exited, {is_joiner ? joining->epoch : rank->started.epoch, is_joiner});
  return true;
}

void RankExits::Report(const RankTable::Rank& rank, const KeeperLink::Rank& exited, Where where) {
  std::string reason =
      fmt::format("the rank on {} {}", ToString(rank.id.device), DescribeExit(exited.status));
  if (!rank.last_line.empty()) reason += ": " + rank.last_line;
  uplink_.ReportEvent(engine::Severity::kError, rank.id.job, reason);
  wire::RankExited& out = exits_[exited.pid];
  out.set_job(rank.id.job);
  Encode(rank.id.device, out.mutable_device());
  out.set_epoch(where.epoch);
  out.set_attempt(rank.started.attempt);
  out.set_joining(where.is_joiner);
  out.set_pid(exited.pid);
  if (const HeldJobs::Job* job = jobs_.Find(rank.id.job)) out.set_start(job->start);
  out.set_reason(Utf8(reason));
  out.set_refused(WIFEXITED(exited.status) && WEXITSTATUS(exited.status) == TESSERA_EXIT_REFUSED);
  Repeat();
}

void RankExits::Repeat() {
  for (const auto& [pid, exit] : exits_) {
    wire::FromNode message;
    *message.mutable_rank_exited() = exit;
    uplink_.Send(std::move(message));
  }
}

void RankExits::OnNoted(std::int64_t pid) {
  if (exits_.erase(pid) > 0) static_cast<void>(links_.keeper->Acknowledge(pid));
}

}  // namespace tessera::agents
