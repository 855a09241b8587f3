// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The network of a simulated cluster: flows between devices share the ports that they go through.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "agents/move/move.h"
#include "agents/sim/hardware.h"
#include "agents/sim/sim_world.h"

namespace tessera::agents::sim {

/// A flow gets an equal share of each of its ports, and the smaller one counts. Inside a node the
/// ports are those of the devices, between nodes those of the nodes.
class SimFabric {
 public:
  SimFabric(SimWorld& sim, Hardware hardware) : sim_(sim), hardware_(std::move(hardware)) {}
  SimFabric(const SimFabric&) = delete;
  SimFabric& operator=(const SimFabric&) = delete;

  /// Moves the bytes of `flows`, which stay valid as long as the result lives, and calls `then`
  /// when all have arrived.
  std::shared_ptr<void> Start(const std::vector<std::unique_ptr<MoveFlow>>& flows,
                              std::function<void()> then);
  /// The speed of a node's port, as a share of the hardware's. 0: nothing passes.
  void SetPort(std::int32_t node, double share) { shares_[node] = share; }
  /// What a node may send and what it may receive over the network; 0: no limit.
  void Limit(std::int32_t node, std::int64_t bytes_per_second) { limits_[node] = bytes_per_second; }

 private:
  static constexpr Time kTick = 10;
  struct Flow {
    MoveFlow* flow = nullptr;
    double done = 0;
  };
  struct Transfer {
    std::vector<Flow> flows;
    std::function<void()> then;
  };
  void Tick();
  double PortOf(std::int32_t node) const;

  SimWorld& sim_;
  const Hardware hardware_;
  std::map<std::int32_t, double> shares_;
  std::map<std::int32_t, std::int64_t> limits_;
  std::vector<std::weak_ptr<Transfer>> transfers_;
  bool is_ticking_ = false;
};

}  // namespace tessera::agents::sim
