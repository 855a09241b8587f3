// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The cost model (engine/search/DESIGN.md) as its formulae say it: rank by rank and group by
/// group, without anything that makes it fast.

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "engine/data/cursor.h"
#include "engine/search/cost_model.h"
#include "engine/search/workload.h"

namespace tessera::test {

class StepOracle {
 public:
  StepOracle(const engine::JobSettings& settings, const ptc::DeviceMesh& mesh,
             const engine::StepOptions& options, const engine::Machines& machines,
             const engine::Calibration& calibration)
      : model_(settings.model), mesh_(mesh), machines_(machines), calibration_(calibration) {
    const ptc::MeshShape& shape = mesh.shape();
    dp_ = shape[ptc::Axis::kDp], tp_ = shape[ptc::Axis::kTp], pp_ = shape[ptc::Axis::kPp];
    zero_ = options.zero && dp_ > 1;
    batch_ = engine::GlobalBatchOn(settings, shape);
    samples_ = engine::MicroBatch(settings, shape, options);
  }

  double Total() {
    double first_passes = 0, later_passes = 0;
    for (int rank = 0; rank < mesh_.num_ranks(); ++rank) {
      ++ranks_[MachineOf(rank)];
      const std::int64_t stage = Coordinate(rank, ptc::Axis::kPp);
      const double first = PassSeconds(engine::WorkOf(model_, tp_, stage, pp_, samples_));
      if (Coordinate(rank, ptc::Axis::kDp) == 0 && Coordinate(rank, ptc::Axis::kTp) == 0) {
        first_passes += first;
      }
      double compute = 0;
      for (const std::int64_t samples : PassesOf(rank)) {
        compute += PassSeconds(engine::WorkOf(model_, tp_, stage, pp_, samples));
      }
      later_passes = std::max(later_passes, compute - first);
      const double parameters = static_cast<double>(engine::ParametersOf(model_, tp_, stage, pp_));
      const double share = zero_ ? 2.0 / static_cast<double>(dp_) : 1;
      compute_[MachineOf(rank)] += compute + parameters * (calibration_.gradient_seconds +
                                                           share * calibration_.update_seconds);
      path_free_[MachineOf(rank)] += compute;
      wait_[MachineOf(rank)] += calibration_.step_seconds;
      ChargeAsFirst(rank, stage);
    }
    constexpr std::int64_t kRecordBytes = 64;
    std::vector<int> world;
    for (int rank = 0; rank < mesh_.num_ranks(); ++rank) world.push_back(rank);
    Charge(world, Gather(world, kRecordBytes * mesh_.num_ranks()));
    double slowest = 0;
    for (const auto& [machine, ranks] : ranks_) {
      const double busy = static_cast<double>(std::min(ranks, calibration_.cores));
      double speed = 1;
      if (calibration_.cores > 1 && ranks > 1) {
        speed += (busy - 1) / static_cast<double>(calibration_.cores - 1) *
                 (calibration_.all_cores_speed - 1);
      }
      const double bubble =
          (first_passes + later_passes) / (speed / busy) - path_free_[machine] / speed;
      slowest = std::max(slowest,
                         compute_[machine] / speed + wait_[machine] / busy + std::max(0.0, bubble));
    }
    return slowest;
  }

 private:
  std::int64_t Coordinate(int rank, ptc::Axis axis) const { return mesh_.Coordinate(rank, axis); }
  ptc::DeviceId DeviceOf(int rank) const { return mesh_.devices()[static_cast<std::size_t>(rank)]; }
  std::int32_t MachineOf(int rank) const { return machines_.MachineOf(DeviceOf(rank)); }

  /// The samples of each micro-batch of the rank's replica.
  std::vector<std::int64_t> PassesOf(int rank) const {
    std::vector<std::int64_t> out;
    std::int64_t left = engine::ShareOfBatch(batch_, Coordinate(rank, ptc::Axis::kDp), dp_).size();
    for (; left > 0; left -= samples_) out.push_back(std::min(left, samples_));
    return out;
  }

  double PassSeconds(const engine::PassWork& work) const {
    return calibration_.pass_seconds + work.layers * calibration_.layer_seconds +
           work.flops / calibration_.flops_per_second +
           work.elements * calibration_.element_seconds;
  }

  /// The ranks that differ from `rank` along one axis at most.
  std::vector<int> GroupOf(int rank, ptc::Axis along) const {
    std::vector<int> out;
    for (int other = 0; other < mesh_.num_ranks(); ++other) {
      bool is_same = true;
      for (const ptc::Axis axis : ptc::kAxes) {
        is_same = is_same && (axis == along || Coordinate(other, axis) == Coordinate(rank, axis));
      }
      if (is_same) out.push_back(other);
    }
    return out;
  }

  bool OnOneHost(const std::vector<int>& group) const {
    std::set<std::int32_t> hosts;
    for (const int rank : group) hosts.insert(machines_.topology.HostOf(DeviceOf(rank)));
    return hosts.size() == 1;
  }
  double Reduce(const std::vector<int>& group, std::int64_t bytes) const {
    return (OnOneHost(group) ? calibration_.shared_all_reduce : calibration_.network_all_reduce)
        .Of(std::ssize(group))
        .At(bytes);
  }
  double Gather(const std::vector<int>& group, std::int64_t bytes) const {
    return (OnOneHost(group) ? calibration_.shared_gather : calibration_.network_gather)
        .Of(std::ssize(group))
        .At(bytes);
  }
  double Send(const std::vector<int>& ends, std::int64_t bytes) const {
    return (OnOneHost(ends) ? calibration_.shared_send : calibration_.network_send).At(bytes);
  }
  void Charge(const std::vector<int>& group, double seconds) {
    std::map<std::int32_t, std::int64_t> members;
    for (const int rank : group) ++members[MachineOf(rank)];
    for (const auto& [machine, count] : members) {
      wait_[machine] += seconds * static_cast<double>(std::min(count, calibration_.cores));
    }
  }

  /// The collectives and messages of the groups in which the rank is the first one.
  void ChargeAsFirst(int rank, std::int64_t stage) {
    const std::vector<int> tp = GroupOf(rank, ptc::Axis::kTp);
    if (tp_ > 1 && tp.front() == rank) {
      double seconds = 0;
      for (const std::int64_t samples : PassesOf(rank)) {
        const engine::PassWork work = engine::WorkOf(model_, tp_, stage, pp_, samples);
        const std::int64_t tokens = samples * model_.sequence;
        seconds += work.tensor_reduces * Reduce(tp, engine::HiddenBytes(model_, samples));
        if (work.has_loss) seconds += Reduce(tp, 4 * tokens) + Reduce(tp, 8 * tokens);
      }
      Charge(tp, seconds);
    }
    const std::vector<int> dp = GroupOf(rank, ptc::Axis::kDp);
    if (dp_ > 1 && dp.front() == rank) {
      const std::int64_t bytes = 4 * engine::ParametersOf(model_, tp_, stage, pp_);
      Charge(dp, Reduce(dp, bytes));
      if (zero_) Charge(dp, Gather(dp, bytes));
    }
    const std::vector<int> pp = GroupOf(rank, ptc::Axis::kPp);
    if (stage + 1 < pp_) {
      const std::vector<int> ends = {rank, pp[static_cast<std::size_t>(stage) + 1]};
      for (const std::int64_t samples : PassesOf(rank)) {
        const double both = 2 * Send(ends, engine::HiddenBytes(model_, samples));
        for (const int end : ends) wait_[MachineOf(end)] += both / 2;
      }
    }
    if (pp_ > 1 && stage == 0 && model_.tied_head) {
      const std::vector<int> ends = {rank, pp.back()};
      Charge(ends, 2 * Send(ends, (model_.vocab + tp_ - 1) / tp_ * model_.width * 4));
    }
  }

  const engine::GptConfig& model_;
  const ptc::DeviceMesh& mesh_;
  const engine::Machines& machines_;
  const engine::Calibration& calibration_;
  std::int64_t dp_ = 1, tp_ = 1, pp_ = 1, batch_ = 0, samples_ = 0;
  bool zero_ = false;
  std::map<std::int32_t, std::int64_t> ranks_;
  /// Core-seconds by machine: of passes and updates; of passes alone; of everything else.
  std::map<std::int32_t, double> compute_, path_free_, wait_;
};

}  // namespace tessera::test
