// SPDX-License-Identifier: Apache-2.0
#include "agents/registrar/recovery_planner.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include "agents/checkpoint/checkpoint_place.h"
#include "agents/wire/convert.h"
#include "agents/wire/tessera/wire/control.pb.h"
#include "engine/cluster/snapshot.h"
#include "ptc/plan/mixed_plan.h"

namespace tessera::agents {
namespace {

constexpr std::size_t kMostRanges = 8;  // of the missing ranges that are listed

// The same mesh if there are enough devices, else the best one for those that are left. `spare` are
// taken in this order.
Result<Planned> PlanWith(const LossFacts& facts, const std::vector<ptc::DeviceId>& spare,
                         const std::vector<ptc::DeviceId>& lost) {
  const ptc::Layout& layout = *facts.basis.job.layout;
  const auto wanted = static_cast<std::size_t>(layout.mesh().num_ranks());
  std::vector<ptc::DeviceId> devices = facts.remaining.own;
  for (const ptc::DeviceId device : spare) {
    if (devices.size() < wanted) devices.push_back(device);
  }
  if (devices.empty()) return ResourceExhausted("no device is left");
  wire::PlanRequest request;
  if (devices.size() == wanted) {
    Encode(layout.mesh().shape(), request.mutable_mesh());
    Encode(facts.basis.job.options, request.mutable_options());
  }
  return PlanChange(facts.basis, request, std::move(devices), lost);
}

/// Whether `other` survives the loss of a node that `planned` does not survive, at about the speed.
bool SurvivesMore(const Planned& other, const Planned& planned) {
  const engine::PlanSummary& a = planned.summary;
  const engine::PlanSummary& b = other.summary;
  return b.survival && b.survival->of_any_node() && a.survival && !a.survival->of_any_node() &&
         b.to_step_seconds.value_or(0) <= a.to_step_seconds.value_or(0) * (1 + engine::kEqualSpeed);
}

Result<Planned> PlanOnRemaining(const LossFacts& facts, const std::vector<ptc::DeviceId>& lost) {
  auto planned = PlanWith(facts, facts.remaining.spare, lost);
  // Spare devices on the nodes that the job still has are near its state, those on others survive
  // the loss of these nodes.
  std::vector<ptc::DeviceId> elsewhere = facts.remaining.spare;
  std::stable_partition(elsewhere.begin(), elsewhere.end(), [&](ptc::DeviceId device) {
    return std::ranges::find(facts.remaining.own, device.node, &ptc::DeviceId::node) ==
           facts.remaining.own.end();
  });
  if (!planned || elsewhere == facts.remaining.spare) return planned;
  auto other = PlanWith(facts, elsewhere, lost);
  return other && SurvivesMore(*other, *planned) ? std::move(other) : std::move(planned);
}

/// What the devices that are left hold is of another step, so it counts as lost too.
Result<Planned> PlanFromOutside(LossFacts facts) {
  facts.basis.remains.reset();
  return PlanOnRemaining(facts, facts.basis.job.layout->mesh().devices());
}

Result<Planned> PlanReturn(const LossFacts& facts) {
  TESSERA_TRY(Planned planned, PlanFromOutside(facts));
  planned.summary.snapshot = std::exchange(planned.summary.storage, 0);
  return planned;
}

/// What no device holds that is left. It does not depend on where the job would continue.
void FindMissing(const LossFacts& facts, const ptc::Layout& to, engine::DecisionStatus& status) {
  const ptc::Layout& layout = *facts.basis.job.layout;
  const auto from = facts.basis.remains ? facts.basis.remains->where : ptc::MixedLayout(layout);
  const auto plan =
      ptc::MakeMixedPlan(from, to, facts.basis.job.machines.topology, {.lost = facts.lost});
  if (!plan) return;
  const auto& tensors = layout.collection().tensors();
  for (const ptc::Outline& outline : plan->outlines) {
    status.missing_bytes += outline.lost_bytes;
    for (const ptc::LostRange& range : ptc::LostRanges(outline, kMostRanges)) {
      if (status.missing.size() == kMostRanges) break;
      status.missing.push_back(fmt::format(
          "{} {}", tensors[static_cast<std::size_t>(range.tensor)].name, ToString(range.box)));
    }
  }
  if (status.missing_bytes > 0) status.loss = engine::LossCase::kCheckpointOnly;
}

/// Whether the checkpoint is tried before the snapshot: the newer one is, and the snapshot if both
/// are of one step, because it is in memory.
bool IsBeforeSnapshot(const LossFacts& facts) {
  return !facts.snapshot_step || facts.snapshot_failed ||
         facts.checkpoint->step > *facts.snapshot_step;
}

}  // namespace

WayOut FindWayOut(const LossFacts& facts) {
  WayOut out;
  engine::DecisionStatus& status = out.status;
  status.lost = facts.lost;
  status.reason = facts.reason;
  const ptc::Layout& layout = *facts.basis.job.layout;
  auto planned = PlanOnRemaining(facts, facts.lost);
  FindMissing(facts, planned ? planned->to : layout, status);
  const bool is_missing = status.loss == engine::LossCase::kCheckpointOnly;
  const bool loads =
      facts.checkpoint && (facts.checkpoint->chosen || (is_missing && IsBeforeSnapshot(facts)));
  const auto go_back_to = [&](std::int64_t step) {
    status.snapshot_step = step;
    status.steps_lost = std::max<std::int64_t>(0, facts.step - step);
  };
  if (loads) {
    status.loss = engine::LossCase::kCheckpointOnly;
    status.checkpoint = ShownPlace(facts.checkpoint->path);
    go_back_to(facts.checkpoint->step);
    planned = PlanFromOutside(facts);
  } else if (is_missing && facts.snapshot_step) {
    status.loss = engine::LossCase::kSnapshot;
    go_back_to(*facts.snapshot_step);
    planned = PlanReturn(facts);
  } else if (is_missing) {
    status.why_not =
        fmt::format("{} of its state have no live copy, and there is no snapshot and no checkpoint",
                    engine::BytesText(status.missing_bytes));
    return out;
  }
  if (!planned) {
    status.why_not = planned.error().message;
    return out;
  }
  const engine::PlanSummary& summary = planned->summary;
  status.mesh = summary.to_mesh;
  status.devices = summary.to_devices;
  status.options = summary.to_options;
  status.moved_bytes = summary.moved();
  status.step_seconds = summary.to_step_seconds;
  auto own = layout.mesh().devices();
  auto next = summary.to_devices;
  std::sort(own.begin(), own.end());
  std::sort(next.begin(), next.end());
  out.by_itself = own == next && status.loss == engine::LossCase::kReplicasLive;
  if (status.loss == engine::LossCase::kReplicasLive && planned->plan.bytes.storage > 0) {
    status.devices.clear();
    status.why_not = "parts of its state have no live copy";
    return out;
  }
  out.plan = std::move(*planned);
  return out;
}

}  // namespace tessera::agents
