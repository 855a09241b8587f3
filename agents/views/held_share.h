// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// One node's share of a view or a snapshot, complete in its memory.

#include <cstdint>
#include <memory>
#include <string>

#include "agents/net/lanes.h"
#include "engine/store/view_memory.h"
#include "engine/store/view_plan.h"
#include "ptc/layout.h"

namespace tessera::agents {

/// Lanes that send from it keep it alive.
struct HeldShare {
  std::string job;
  ptc::Layout layout;
  std::shared_ptr<const engine::ViewPlan> plan;
  engine::ViewStamp stamp;
  engine::ViewMemory memory;
  std::optional<std::int32_t> guest = {};  // of the snapshot
  std::uint64_t origin = 0;                // of the job, as JobRow::origin; 0: unknown

  /// Readable by processes of this machine and user as long as this process holds the memory.
  std::string path() const;
};

/// The memory of a cell: any box inside a cell of the share. Any thread.
/// \error kNotFound naming tensor and box if this share does not hold the cell
Result<SourceCell> CellOf(const std::shared_ptr<const HeldShare>& share, const LaneCell& wanted);

}  // namespace tessera::agents
