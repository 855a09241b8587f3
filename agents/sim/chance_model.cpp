// SPDX-License-Identifier: Apache-2.0
#include "agents/sim/chance_model.h"

#include <utility>

namespace tessera::agents::sim {

std::shared_ptr<void> ChanceModel::Transfer(const MoveContext&, MoveMode mode,
                                            const std::vector<std::unique_ptr<MoveFlow>>&,
                                            std::function<void()> then) {
  auto alive = std::make_shared<bool>(true);
  const Time time = OnlyReads(mode) ? sim_.Pick(1, 30) : sim_.Pick(10, 1500);
  sim_.clock.After(time, [alive = std::weak_ptr(alive), then = std::move(then)] {
    if (!alive.expired()) then();
  });
  return alive;
}

}  // namespace tessera::agents::sim
