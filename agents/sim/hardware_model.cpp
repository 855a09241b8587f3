// SPDX-License-Identifier: Apache-2.0
#include "agents/sim/hardware_model.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <variant>
#include <vector>

#include "agents/sim/sim_move.h"
#include "engine/search/cost_model.h"
#include "ptc/digest.h"
#include "ptc/plan/dropped_replicas.h"

namespace tessera::agents::sim {
namespace {

Time Milliseconds(double seconds) { return static_cast<Time>(std::llround(seconds * 1000)); }

/// A number in [-1, 1) that depends on nothing else.
double NoiseOf(std::uint64_t seed, std::int64_t step) {
  constexpr double kHalf = 9223372036854775808.0;  // 2^63
  const std::uint64_t bits = ptc::Mix(ptc::Mix(seed + 1) + static_cast<std::uint64_t>(step));
  return static_cast<double>(bits) / kHalf - 1;
}

/// The most bytes that a device of the node copies to itself.
std::int64_t RepackedBytes(const MoveContext& context) {
  std::map<ptc::DeviceId, std::int64_t> bytes;
  for (const ptc::Move& move : context.plan->moves) {
    if (const auto* const copy = std::get_if<ptc::LocalCopy>(&move)) {
      bytes[copy->device] +=
          copy->cell.num_elements() * ptc::SizeBytes(context.SpecOf(copy->tensor).dtype);
    }
  }
  std::int64_t most = 0;
  for (const auto& [device, each] : bytes) most = std::max(most, each);
  return most;
}

/// The most bytes that a device of the node holds, old or new.
std::int64_t HeldBytes(const MoveContext& context) {
  std::int64_t most = 0;
  for (const auto& [device, local] : context.local) {
    most = std::max({most, local.old_table.used_bytes(), local.next_table.used_bytes()});
  }
  return most;
}

/// The most bytes that a device of the node reads to compare the replicas that the change drops.
std::int64_t DroppedBytes(const MoveContext& context) {
  const ptc::DeviceCells held(context.from, context.to, ptc::CellOwners::kHolders, context.lost);
  const ptc::DeviceCells needed(context.from, context.to, ptc::CellOwners::kNeeders);
  std::int64_t most = 0;
  for (const auto& [device, local] : context.local) {
    most = std::max(most, ptc::DroppedReplicaBytes(context.from, held, needed, device));
  }
  return most;
}

}  // namespace

HardwareModel::HardwareModel(SimWorld& sim, Hardware hardware, int devices, std::uint64_t seed)
    : sim_(sim),
      hardware_(hardware),
      calibration_(CalibrationOf(hardware, devices)),
      seed_(seed),
      fabric_(sim, std::move(hardware)) {}

// With ZeRO replicas cut the optimizer's state flat along dp.
void HardwareModel::NoteLayout(const ptc::Layout& layout) {
  const auto [known, is_new] = zero_.try_emplace(layout.hash(), false);
  if (!is_new) return;
  known->second =
      std::ranges::any_of(layout.collection().tensors(), [](const ptc::TensorSpec& spec) {
        return std::ranges::count(spec.rule.flat, ptc::Axis::kDp) > 0;
      });
}

Time HardwareModel::StepOf(const RankView& view, const engine::JobSettings& settings,
                           bool zero) const {
  if (settings.program) return kProgramStep;
  ptc::MeshShape shape;
  for (std::size_t i = 0; i < view.axis_size.size(); ++i) {
    shape[static_cast<ptc::Axis>(i)] = view.axis_size[i];
  }
  // Only the nodes of the ranks count.
  std::map<std::int32_t, std::int32_t> next;
  std::vector<ptc::DeviceId> devices;
  for (const std::int32_t node : view.node_of_rank) devices.push_back({node, next[node]++});
  const auto mesh = ptc::DeviceMesh::Make(shape, std::move(devices));
  engine::StepOptions options;
  options.micro_batch = view.micro_batch;
  options.zero = zero;
  if (!mesh || !engine::CheckMesh(settings, shape, options)) return kProgramStep;
  const engine::Machines machines{SpeedsOf(hardware_), {}};
  const engine::StepCost cost =
      engine::EstimateStep(settings, *mesh, options, machines, calibration_);
  return std::max(kLeastStep, Milliseconds(cost.total()));
}

Time HardwareModel::Compute(const RankId& id, const RankView& view,
                            const engine::JobSettings& settings, std::uint64_t layout) {
  const StepKey key{id.job,
                    view.epoch,
                    view.attempt,
                    settings.model.name,
                    settings.global_batch,
                    settings.precision,
                    view.axis_size};
  auto found = steps_.find(key);
  if (found == steps_.end()) {
    const auto zero = zero_.find(layout);
    const bool is_zero = zero != zero_.end() && zero->second;
    found = steps_.emplace(key, StepOf(view, settings, is_zero)).first;
  }
  // Steps vary by a few percent, and the slowest rank counts.
  constexpr double kLeast = 0.97;
  const auto step = static_cast<double>(found->second);
  const auto slow = slow_.find(id.device);
  const double factor = slow == slow_.end() ? 1 : slow->second;
  return std::max<Time>(
      1, sim_.Pick(static_cast<Time>(step * kLeast * factor), static_cast<Time>(step * factor)));
}

// A power law that ends at a floor (Kaplan et al. 2020, equation 1.3, for data), from the loss of a
// uniform guess on, with the noise of batches. The exponent and the floor are chosen so that the
// curve can be seen to fall.
double HardwareModel::Loss(const engine::JobSettings& settings, std::int64_t step, std::int64_t) {
  constexpr double kFloor = 1.7, kExponent = 0.35, kFirstSteps = 20, kNoise = 0.015;
  const double guess = std::log(static_cast<double>(
      settings.program ? 256 : std::max<std::int64_t>(settings.model.vocab, 16)));
  const double falls = std::pow(1 + static_cast<double>(step) / kFirstSteps, -kExponent);
  return (kFloor + (guess - kFloor) * falls) *
         (1 + kNoise * NoiseOf(seed_ + static_cast<std::uint64_t>(settings.seed), step));
}

std::int64_t HardwareModel::Tokens(const engine::JobSettings& settings) {
  return settings.program ? 0 : settings.global_batch * settings.model.sequence;
}

std::shared_ptr<void> HardwareModel::Transfer(const MoveContext& context, MoveMode mode,
                                              const std::vector<std::unique_ptr<MoveFlow>>& flows,
                                              std::function<void()> then) {
  double seconds = 0;
  if (mode == MoveMode::kReplicas) {
    seconds =
        0.001 + static_cast<double>(DroppedBytes(context)) / hardware_.memory_bytes_per_second;
  } else {
    seconds = 0.01;
    // Copies read and write; digests read.
    seconds += 2 * static_cast<double>(RepackedBytes(context)) / hardware_.memory_bytes_per_second;
    if (mode != MoveMode::kVerifyMoved) {
      seconds += static_cast<double>(HeldBytes(context)) / hardware_.memory_bytes_per_second;
    }
    // Shares of a snapshot come from other nodes.
    seconds += static_cast<double>(StoredBytes(context)) / hardware_.network_bytes_per_second;
  }
  struct Work {
    std::shared_ptr<void> flows;
  };
  auto work = std::make_shared<Work>();
  const auto rest = [this, seconds, weak = std::weak_ptr(work), then = std::move(then)] {
    sim_.clock.After(Milliseconds(seconds), [weak, then] {
      if (!weak.expired()) then();
    });
  };
  if (OnlyReads(mode) || flows.empty()) {
    rest();
  } else {
    work->flows = fabric_.Start(flows, rest);
  }
  return work;
}

Time HardwareModel::Digests(const MoveContext& change) {
  return 1 +
         Milliseconds(static_cast<double>(HeldBytes(change)) / hardware_.memory_bytes_per_second);
}

}  // namespace tessera::agents::sim
