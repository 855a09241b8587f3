// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The files in which one node's share of a view is saved: a sharded checkpoint
/// (engine/checkpoint/FORMAT.md) with one shard per device, so that files are written at once.

#include <cstdint>
#include <string>
#include <vector>

#include "engine/checkpoint/safetensors/header.h"
#include "engine/checkpoint/safetensors/notes.h"
#include "engine/store/view_plan.h"
#include "ptc/base/result.h"
#include "ptc/layout.h"

namespace tessera::agents {

/// One file, with the cells of the plan that are its tensors.
struct ShareFile {
  std::string name;
  checkpoint::Header header;  // without digests
  /// By tensor of the header; nullptr for a tensor without elements.
  std::vector<const engine::ViewCell*> cells;
  std::int64_t size_bytes = 0;

  /// The bytes before the first tensor. Their number does not depend on the digests.
  /// \param digests of the cells, by tensor of the header
  Result<std::string> Head(const std::vector<std::uint64_t>& digests) const;
};

/// Plans the files of `node`. All nodes plan from the same layout, so their files fit together.
/// \param plan of a view; the cells point into it
/// \error as checkpoint::PlanFiles and checkpoint::AssignOffsets
Result<std::vector<ShareFile>> PlanShareFiles(const ptc::Layout& layout,
                                              const engine::ViewPlan& plan, std::int32_t node);

}  // namespace tessera::agents
