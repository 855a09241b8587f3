// SPDX-License-Identifier: Apache-2.0
#include "engine/model/pass_order.h"

#include <algorithm>

#include "ptc/base/check.h"

namespace tessera::engine {

std::vector<StageAction> OneForwardOneBackward(std::int64_t stage, std::int64_t stages,
                                               std::int64_t micro_batches) {
  TESSERA_DCHECK(0 <= stage && stage < stages && micro_batches >= 1);
  const std::int64_t ahead = std::min(stages - 1 - stage, micro_batches);
  std::vector<StageAction> actions;
  actions.reserve(static_cast<std::size_t>(2 * micro_batches));
  for (std::int64_t m = 0; m < ahead; ++m) actions.push_back({StageAction::kForward, m});
  for (std::int64_t m = ahead; m < micro_batches; ++m) {
    actions.push_back({StageAction::kForward, m});
    actions.push_back({StageAction::kBackward, m - ahead});
  }
  for (std::int64_t m = micro_batches - ahead; m < micro_batches; ++m) {
    actions.push_back({StageAction::kBackward, m});
  }
  return actions;
}

}  // namespace tessera::engine
