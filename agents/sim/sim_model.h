// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// How long things take in a simulation, and what the steps of a job yield.

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "agents/job/rank_view.h"
#include "agents/move/move.h"
#include "agents/move/move_context.h"
#include "agents/sim/virtual_clock.h"
#include "engine/model/gpt.h"
#include "ptc/layout.h"

namespace tessera::agents::sim {

class SimModel {
 public:
  SimModel() = default;
  SimModel(const SimModel&) = delete;
  SimModel& operator=(const SimModel&) = delete;
  virtual ~SimModel() = default;

  /// A node has the layout of a job: its ranks may train with it from now on.
  virtual void NoteLayout(const ptc::Layout&) {}
  /// Until the rank has its gradients. `layout`: the hash of the layout with which it trains.
  virtual Time Compute(const RankId& id, const RankView& view, const engine::JobSettings& settings,
                       std::uint64_t layout) = 0;
  /// Of the update of a device.
  virtual Time Update() = 0;
  virtual double Loss(const engine::JobSettings& settings, std::int64_t step,
                      std::int64_t timeline) = 0;
  virtual std::int64_t Tokens(const engine::JobSettings& settings) = 0;
  /// Moves the bytes of the flows into the devices of a node, counts them, and calls `then` when
  /// all have arrived. Nothing is called after the result has been destroyed.
  virtual std::shared_ptr<void> Transfer(const MoveContext& context, MoveMode mode,
                                         const std::vector<std::unique_ptr<MoveFlow>>& flows,
                                         std::function<void()> then) = 0;
  /// Of the digests that are taken after a change.
  virtual Time Digests(const MoveContext& change) = 0;
};

}  // namespace tessera::agents::sim
