// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The cells of a layout, numbered: the unit in which a hand-in is compared and counted.

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "ptc/layout.h"

namespace tessera::engine::vfs {

/// Immutable. The time to make it grows with the number of tensors.
class HandedCells {
 public:
  struct Cell {
    int tensor = 0;
    ptc::Box box;
    bool is_shared = false;  // more than one rank holds it
  };
  explicit HandedCells(const ptc::Layout& layout);

  /// Ascending by (tensor, box).
  const std::vector<Cell>& cells() const { return cells_; }
  /// Position of the tensor's first cell in cells(); that of the last tensor's end for
  /// `tensor` = number of tensors.
  std::size_t FirstOf(int tensor) const {
    return first_of_tensor_[static_cast<std::size_t>(tensor)];
  }

 private:
  std::vector<Cell> cells_;
  std::vector<std::size_t> first_of_tensor_;
};
using HandedCellsPtr = std::shared_ptr<const HandedCells>;

}  // namespace tessera::engine::vfs
