// SPDX-License-Identifier: Apache-2.0
#include "agents/node/served_cells.h"

#include <fmt/format.h>

#include <utility>

namespace tessera::agents {

void ServedCells::Serve(std::shared_ptr<const MoveContext> context) {
  const std::lock_guard lock(mutex_);
  context_ = std::move(context);
}

Result<SourceCell> ServedCells::Resolve(const LaneKey& key, const LaneCell& cell) {
  if (IsLinkProbe(key)) return links_.Cell();
  if (key.attempt == kViewAttempt) {
    return views_.Resolve(static_cast<std::uint64_t>(key.transaction), cell);
  }
  std::shared_ptr<const MoveContext> context;
  {
    const std::lock_guard lock(mutex_);
    context = context_;
  }
  if (!context || !(context->key == key)) {
    return FailedPrecondition(fmt::format("transaction {} of '{}' is not in transfer on this node",
                                          key.transaction, key.job));
  }
  return ResolveSource(context, cell);
}

}  // namespace tessera::agents
