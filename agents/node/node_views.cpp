// SPDX-License-Identifier: Apache-2.0
// Takes this node's shares of views and snapshots, on request of the registrar.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "agents/node/node_agent.h"
#include "agents/wire/convert.h"
#include "agents/wire/utf8.h"
#include "ptc/base/overloaded.h"

namespace tessera::agents {
namespace {
/// The longest wait for a step.
constexpr double kMaxViewSeconds = 24 * 3600;
}  // namespace

Result<ViewTask> NodeAgent::MakeViewTask(const wire::TakeView& m) {
  const auto job = jobs_.find(m.job());
  // From the transfer on, the old state may be overwritten at any time.
  const bool changes = txn_ && txn_->prepare.job() == m.job() &&
                       txn_->part->state() >= engine::ParticipantState::kTransferring;
  if (job == jobs_.end() || changes) {
    return FailedPrecondition(fmt::format("job '{}' cannot be viewed on this node now", m.job()));
  }
  if (!(m.deadline() >= 0 && m.deadline() <= kMaxViewSeconds)) {  // also refuses NaN
    return InvalidArgument(fmt::format("a view of '{}' within {} s: from 0 to {} are taken",
                                       m.job(), m.deadline(), kMaxViewSeconds));
  }
  const JobRow& row = job->second.row;
  if (row.epoch != m.epoch() || row.layout.hash() != m.layout_hash()) {
    return FailedPrecondition(
        fmt::format("job '{}' is in epoch {} on this node, the view needs epoch {}", m.job(),
                    row.epoch, m.epoch()));
  }
  auto& known = m.snapshot() ? snapshot_plan_ : view_plan_;
  if (!known || known->first != m.layout_hash()) {
    known.emplace(m.layout_hash(), std::make_shared<const engine::ViewPlan>(
                                       m.snapshot() ? engine::ViewPlan::OfSnapshot(row.layout)
                                                    : engine::ViewPlan(row.layout)));
  }
  ViewTask task{m.job(), row.layout, known->second, {}, {}, {}};
  task.stamp = {m.view(),        m.epoch(),         m.timeline(), m.step(),
                m.layout_hash(), task.plan->hash(), config_.node};
  task.deadline = Loop::Now() + std::chrono::duration_cast<Loop::Clock::duration>(
                                    std::chrono::duration<double>(m.deadline()));
  std::set<ptc::DeviceId> contributors;
  for (const engine::ViewCell& cell : task.plan->cells()) {
    const bool copies = cell.device.node == config_.node && !cell.is_fetched();
    if (copies) contributors.insert(cell.device);
  }
  for (const ptc::DeviceId id : contributors) {
    DeviceStore::Device* device = store_->Find(id);
    if (!device || !device->table || device->table->job() != m.job() ||
        device->table->epoch() != m.epoch()) {
      return FailedPrecondition(
          fmt::format("{} does not hold epoch {} of '{}'", ToString(id), m.epoch(), m.job()));
    }
    if (device->failed) return Unavailable(fmt::format("device {} failed", ToString(id)));
    task.sources.push_back({id, device->arena.get(), *device->table});
  }
  return task;
}

void NodeAgent::OnTakeView(const wire::TakeView& message) {
  const auto report = [this, view = message.view()](const ViewStore::Outcome& outcome) {
    wire::FromNode reply;
    wire::ViewReport* out = reply.mutable_view();
    out->set_view(view);
    std::visit(Overloaded{
                   [&](const ViewStore::Taken& taken) {
                     out->set_kind(wire::ViewReport::TAKEN);
                     out->set_bytes(taken.bytes);
                     out->set_path(taken.path);
                   },
                   [&](const ViewStore::TooLate& late) {
                     out->set_kind(wire::ViewReport::TOO_LATE);
                     out->set_step(late.step);
                   },
                   [&](const ViewStore::Paused& stands) {
                     out->set_kind(wire::ViewReport::PAUSED);
                     out->set_step(stands.step);
                   },
                   [&](const Error& error) {
                     out->set_kind(wire::ViewReport::FAILED);
                     Encode(error, out->mutable_error());
                   },
               },
               outcome);
    Send(std::move(reply));
  };
  Result<ViewTask> task = MakeViewTask(message);
  if (!task) return report(task.error());
  std::optional<std::int64_t> paused_at;
  if (const auto all = AllPaused(message.job())) paused_at = all->step;
  views_->Take(std::move(*task), paused_at, report);
}

void NodeAgent::OnCompleteSnapshot(const wire::CompleteSnapshot& message) {
  const std::uint64_t id = message.shares().view();
  const auto report = [this, id](const Result<SnapshotStore::Digests>& digests) {
    wire::FromNode reply;
    wire::SnapshotReport* out = reply.mutable_snapshot();
    out->set_view(id);
    if (digests) {
      out->mutable_digests()->Assign(digests->begin(), digests->end());
    } else {
      Encode(digests.error(), out->mutable_error());
    }
    views_->Release(id);
    Send(std::move(reply));
  };
  auto share = views_->Find(id);
  if (!share) return report(NotFound(fmt::format("n{} has no share of it", config_.node)));
  snapshots_->Complete(message.shares(), std::move(share), report);
}

// An earlier agent of this node may have died while it held updates.
void NodeAgent::ClearHolds() {
  for (auto& [id, device] : store_->devices()) device.arena->header().hold.store(0);
}

}  // namespace tessera::agents
