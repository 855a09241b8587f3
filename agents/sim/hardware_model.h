// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The times of a modelled cluster: steps from the cost model (engine/search), transfers from the
/// bandwidths of the hardware, and a loss that falls as losses of language models do.

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>

#include "agents/sim/sim_fabric.h"
#include "agents/sim/sim_model.h"
#include "agents/sim/sim_world.h"

namespace tessera::agents::sim {

class HardwareModel : public SimModel {
 public:
  HardwareModel(SimWorld& sim, Hardware hardware, int devices, std::uint64_t seed);

  void NoteLayout(const ptc::Layout& layout) override;
  Time Compute(const RankId& id, const RankView& view, const engine::JobSettings& settings,
               std::uint64_t layout) override;
  Time Update() override { return 1; }
  double Loss(const engine::JobSettings& settings, std::int64_t step, std::int64_t) override;
  std::int64_t Tokens(const engine::JobSettings& settings) override;
  std::shared_ptr<void> Transfer(const MoveContext& context, MoveMode mode,
                                 const std::vector<std::unique_ptr<MoveFlow>>& flows,
                                 std::function<void()> then) override;
  Time Digests(const MoveContext& change) override;

  SimFabric& fabric() { return fabric_; }
  /// The device computes `factor` times as long as its hardware would; 1: no longer.
  void SetSlow(ptc::DeviceId device, double factor) { slow_[device] = factor; }

  /// A simulated step takes at least this long, so that a small model on fast hardware does not
  /// make thousands of steps a second.
  static constexpr Time kLeastStep = 100;
  /// Of a job with a program of its own, which has no cost model.
  static constexpr Time kProgramStep = 1000;

 private:
  /// Of all ranks of an attempt, by the cost model.
  Time StepOf(const RankView& view, const engine::JobSettings& settings, bool zero) const;

  SimWorld& sim_;
  const Hardware hardware_;
  const engine::Calibration calibration_;
  const std::uint64_t seed_;
  SimFabric fabric_;
  std::map<ptc::DeviceId, double> slow_;
  /// Names are used again, so model, batch and mesh belong to an attempt.
  using StepKey = std::tuple<std::string, std::int64_t, std::int64_t, std::string, std::int64_t,
                             engine::Precision, std::array<std::int64_t, ptc::kNumAxes>>;
  std::map<StepKey, Time> steps_;
  std::map<std::uint64_t, bool> zero_;  // by the hash of a layout: whether replicas share updates
};

}  // namespace tessera::agents::sim
