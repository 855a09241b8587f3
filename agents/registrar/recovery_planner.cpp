// SPDX-License-Identifier: Apache-2.0
#include "agents/registrar/recovery_planner.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <set>
#include <utility>

#include "agents/checkpoint/checkpoint_place.h"
#include "agents/wire/convert.h"
#include "agents/wire/tessera/wire/control.pb.h"
#include "engine/cluster/snapshot.h"
#include "ptc/plan/mixed_plan.h"

namespace tessera::agents {
namespace {

constexpr std::size_t kMostRanges = 8;  // of the missing ranges that are listed
constexpr std::size_t kMostOthers = 4;  // of the missing tensors that are in no layer

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

std::vector<engine::LayerRange> RangesOf(const std::set<std::int64_t>& layers) {
  std::vector<engine::LayerRange> ranges;
  for (const std::int64_t layer : layers) {
    if (!ranges.empty() && ranges.back().last + 1 == layer) {
      ranges.back().last = layer;
    } else {
      ranges.push_back({layer, layer});
    }
  }
  return ranges;
}

/// What no device holds that is left. It does not depend on where the job would continue.
void FindMissing(const LossFacts& facts, const ptc::Layout& to, engine::DecisionStatus& status) {
  const ptc::Layout& layout = *facts.basis.job.layout;
  const auto from = facts.basis.remains ? facts.basis.remains->where : ptc::MixedLayout(layout);
  const auto plan =
      ptc::MakeMixedPlan(from, to, facts.basis.job.machines.topology, {.lost = facts.lost});
  if (!plan) return;
  const auto& tensors = layout.collection().tensors();
  std::set<std::int64_t> layers;
  std::set<std::string> others;
  for (const ptc::Outline& outline : plan->outlines) {
    status.missing_bytes += outline.lost_bytes;
    for (const ptc::LostRange& range : ptc::LostRanges(outline, kMostRanges)) {
      if (status.missing.size() == kMostRanges) break;
      status.missing.push_back(fmt::format(
          "{} {}", tensors[static_cast<std::size_t>(range.tensor)].name, ToString(range.box)));
    }
    for (const int number : ptc::LostTensors(outline)) {
      const ptc::TensorSpec& tensor = tensors[static_cast<std::size_t>(number)];
      if (tensor.place == ptc::StagePlace::kLayer) {
        layers.insert(tensor.layer);
      } else if (others.size() < kMostOthers) {
        others.insert(tensor.name);
      }
    }
  }
  status.missing_layers = RangesOf(layers);
  status.missing_others.assign(others.begin(), others.end());
}

/// Whether the checkpoint is tried before the snapshot: the newer one is, and the snapshot if both
/// are of one step, because it is in memory.
bool IsBeforeSnapshot(const LossFacts& facts) {
  return !facts.snapshot_step || facts.snapshot_failed ||
         facts.checkpoint->step > *facts.snapshot_step;
}

engine::RecoveryWay WayOf(const engine::PlanSummary& summary, engine::RecoverySource source,
                          std::int64_t step, std::int64_t last_step) {
  return {.source = source,
          .mesh = summary.to_mesh,
          .devices = summary.to_devices,
          .options = summary.to_options,
          .moved_bytes = summary.moved(),
          .step_seconds = summary.to_step_seconds,
          .survival = summary.survival,
          .step = step,
          .steps_lost = std::max<std::int64_t>(0, last_step - step)};
}

struct PlannedWay {
  engine::RecoveryWay way;
  Planned plan;
};

/// The ways that replace the whole state: the newer source first.
/// \error of the plan
Result<std::vector<PlannedWay>> WaysFromOutside(const LossFacts& facts) {
  std::vector<PlannedWay> ways;
  if (!facts.snapshot_step && !facts.checkpoint) return ways;
  TESSERA_TRY(const Planned planned, PlanFromOutside(facts));
  // How long the disks, or the nodes with shares of a snapshot, take is not known.
  if (facts.snapshot_step) {
    Planned returns = planned;
    returns.summary.snapshot = std::exchange(returns.summary.storage, 0);
    ways.push_back({WayOf(returns.summary, engine::RecoverySource::kSnapshot, *facts.snapshot_step,
                          facts.step),
                    std::move(returns)});
  }
  if (facts.checkpoint) {
    PlannedWay loads{WayOf(planned.summary, engine::RecoverySource::kCheckpoint,
                           facts.checkpoint->step, facts.step),
                     planned};
    loads.way.checkpoint = ShownPlace(facts.checkpoint->path);
    ways.insert(IsBeforeSnapshot(facts) ? ways.begin() : ways.end(), std::move(loads));
  }
  return ways;
}

/// What a user has chosen; nullopt: nothing.
std::optional<engine::RecoverySource> WantedOf(const LossFacts& facts) {
  if (facts.checkpoint && facts.checkpoint->chosen) return engine::RecoverySource::kCheckpoint;
  return facts.wanted;
}

bool SameDevices(std::vector<ptc::DeviceId> a, std::vector<ptc::DeviceId> b) {
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  return a == b;
}

}  // namespace

WayOut FindWayOut(const LossFacts& facts) {
  using enum engine::RecoverySource;
  WayOut out;
  engine::DecisionStatus& status = out.status;
  status.lost = facts.lost;
  status.reason = facts.reason;
  const ptc::Layout& layout = *facts.basis.job.layout;
  auto live = PlanOnRemaining(facts, facts.lost);
  FindMissing(facts, live ? live->to : layout, status);
  const bool is_missing = status.missing_bytes > 0;
  const auto wanted = WantedOf(facts);
  std::vector<PlannedWay> ways;
  if (is_missing) {
    status.loss = engine::LossCase::kCheckpointOnly;
    status.why_not =
        fmt::format("{} of its state have no live copy, and there is no snapshot and no checkpoint",
                    engine::BytesText(status.missing_bytes));
  } else if (!live) {
    status.why_not = live.error().message;
  } else if (live->plan.bytes.storage > 0) {
    status.why_not = "parts of its state have no live copy";
  } else {
    ways.push_back({WayOf(live->summary, kReplicas, facts.step, facts.step), std::move(*live)});
    ways.back().way.seconds = ways.back().plan.summary.pause_estimate;
  }
  // Where the state is whole and has no room, no steps are given up by themselves.
  if (is_missing || !ways.empty() || wanted) {
    auto outside = WaysFromOutside(facts);
    if (outside) {
      std::ranges::move(*outside, std::back_inserter(ways));
    } else if (ways.empty()) {
      status.why_not = outside.error().message;
    }
  }
  const auto chosen = std::ranges::find(
      ways, wanted, [](const PlannedWay& each) { return std::optional(each.way.source); });
  if (chosen != ways.end()) std::rotate(ways.begin(), chosen, chosen + 1);
  if (ways.empty()) return out;
  status.why_not.clear();
  for (const PlannedWay& each : ways) status.ways.push_back(each.way);
  const engine::RecoveryWay& first = status.way();
  if (is_missing && first.source == kSnapshot) status.loss = engine::LossCase::kSnapshot;
  out.by_itself = first.source == kReplicas && SameDevices(layout.mesh().devices(), first.devices);
  out.plan = std::move(ways.front().plan);
  return out;
}

}  // namespace tessera::agents
