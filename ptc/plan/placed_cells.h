// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The cells of all tensors in two layouts, with the devices that hold and need each.

#include <cstddef>
#include <vector>

#include "ptc/plan/kinds.h"

namespace tessera::ptc {

/// Cells are computed once per kind of tensors and per part, and each list of devices is made once
/// for all cells with the same stages and parts. So the cost of the constructor grows with the
/// kinds and with the tensors, not with the product of tensors and devices. To find the cells of
/// one layout and their holders, give it as both.
class PlacedCells {
 public:
  /// \pre CheckSameTensors(from, to)
  PlacedCells(const Layout& from, const Layout& to);

  /// Calls `visit(box, holders, needers)` for each cell of `tensor`, in ascending order of boxes.
  /// The lists of devices are ascending; all references are valid as long as this object.
  template <typename Visit>
  void ForEach(int tensor, const Visit& visit) const {
    const auto staged = static_cast<std::size_t>(
        kinds_.staged_of_tensor[static_cast<std::size_t>(tensor)]);
    const Kind& kind = kinds_.kinds[static_cast<std::size_t>(kinds_.staged[staged].kind)];
    for (std::size_t c = 0; c < kind.cells.size(); ++c) {
      visit(kind.cells[c].box, lists_[holders_[staged][c]], lists_[needers_[staged][c]]);
    }
  }

  const Kinds& kinds() const { return kinds_; }
  /// The number of different lists of devices.
  std::size_t num_lists() const { return lists_.size(); }

 private:
  Kinds kinds_;
  std::vector<std::vector<DeviceId>> lists_;
  std::vector<std::vector<std::size_t>> holders_;  // by KindOnStages and cell: index into lists_
  std::vector<std::vector<std::size_t>> needers_;
};

}  // namespace tessera::ptc
