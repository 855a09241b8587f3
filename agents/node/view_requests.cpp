// SPDX-License-Identifier: Apache-2.0
#include "agents/node/view_requests.h"

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <utility>

#include "agents/node/node_views.h"
#include "agents/wire/convert.h"

namespace tessera::agents {

bool ViewRequests::MayChange(const std::string& job) const {
  return transactions_.Changes(job) &&
         transactions_.current()->state() >= engine::ParticipantState::kTransferring;
}

void ViewRequests::OnTake(const wire::TakeView& message) {
  const auto reply = [this](wire::ViewReport report) {
    wire::FromNode out;
    *out.mutable_view() = std::move(report);
    uplink_.Send(std::move(out));
  };
  const HeldJobs::Job* job = jobs_.Find(message.job());
  if (!job || MayChange(message.job())) {
    wire::ViewReport refused;
    refused.set_view(message.view());
    refused.set_kind(wire::ViewReport::FAILED);
    Encode(FailedPrecondition(
               fmt::format("job '{}' cannot be viewed on this node now", message.job())),
           refused.mutable_error());
    return reply(std::move(refused));
  }
  std::optional<std::int64_t> paused_at;
  if (const auto all = pauses_.AllPaused(message.job())) paused_at = all->step;
  links_.views->Take(message, {job->row, devices_, paused_at}, reply);
}

void ViewRequests::OnKeep(const wire::KeepViewsRequest& message) {
  for (const std::uint64_t view : message.views()) links_.views->Keep(view);
}

void ViewRequests::OnRelease(const wire::ReleaseViewsRequest& message) {
  for (const std::uint64_t view : message.views()) links_.views->Release(view);
}

void ViewRequests::OnSave(const wire::SaveShare& message) {
  links_.views->Save(message, [this](wire::SaveReport report) {
    wire::FromNode out;
    *out.mutable_save() = std::move(report);
    uplink_.Send(std::move(out));
  });
}

void ViewRequests::OnComplete(const wire::CompleteSnapshot& message) {
  links_.views->Complete(message, [this](wire::SnapshotReport report) {
    wire::FromNode out;
    *out.mutable_snapshot() = std::move(report);
    uplink_.Send(std::move(out));
  });
}

void ViewRequests::OnDrop(const wire::ReleaseViewsRequest& message) {
  for (const std::uint64_t snapshot : message.views()) links_.views->Drop(snapshot);
}

}  // namespace tessera::agents
