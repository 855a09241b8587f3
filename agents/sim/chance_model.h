// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Times by chance: the order of what happens is what a search for errors varies.

#include "agents/sim/sim_model.h"
#include "agents/sim/sim_world.h"

namespace tessera::agents::sim {

class ChanceModel : public SimModel {
 public:
  /// \param update_time at most
  ChanceModel(SimWorld& sim, Time step_time, Time update_time)
      : sim_(sim), step_time_(step_time), update_time_(update_time) {}

  Time Compute(const RankId&, const RankView&, const engine::JobSettings&, std::uint64_t) override {
    return sim_.Pick(step_time_ / 2, step_time_);
  }
  Time Update() override { return sim_.Pick(0, update_time_); }
  double Loss(const engine::JobSettings&, std::int64_t step, std::int64_t timeline) override {
    return LossOf(step, timeline);
  }
  std::int64_t Tokens(const engine::JobSettings&) override { return kTokens; }
  std::shared_ptr<void> Transfer(const MoveContext&, MoveMode mode,
                                 const std::vector<std::unique_ptr<MoveFlow>>&,
                                 std::function<void()> then) override;
  Time Digests(const MoveContext&) override { return sim_.Pick(1, 300); }

  /// Unlike a real one it depends on the timeline, so that a report of a step that was undone is
  /// seen.
  static double LossOf(std::int64_t step, std::int64_t timeline) {
    return 1.0 + 10.0 / static_cast<double>(step) + static_cast<double>(timeline);
  }

 private:
  static constexpr std::int64_t kTokens = 64;

  SimWorld& sim_;
  const Time step_time_, update_time_;
};

}  // namespace tessera::agents::sim
