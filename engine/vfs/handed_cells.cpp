// SPDX-License-Identifier: Apache-2.0
#include "engine/vfs/handed_cells.h"

#include <utility>

#include "ptc/cells.h"

namespace tessera::engine::vfs {

HandedCells::HandedCells(const ptc::Layout& layout) {
  const auto& shape = layout.mesh().shape();
  const int count = static_cast<int>(layout.collection().tensors().size());
  for (int t = 0; t < count; ++t) {
    first_of_tensor_.push_back(cells_.size());
    const ptc::Parts parts = layout.PartsOf(t);
    const std::int64_t num_ranks =
        shape.num_ranks() / shape[ptc::Axis::kPp] * std::ssize(parts.stages);
    const bool parts_are_replicated = num_ranks > std::ssize(parts.boxes);
    for (ptc::Cell& cell : ptc::MakeCells({.held = parts.boxes, .needed = {}})) {
      cells_.push_back({t, cell.box, parts_are_replicated || cell.holders.size() > 1});
    }
  }
  first_of_tensor_.push_back(cells_.size());
}

}  // namespace tessera::engine::vfs
