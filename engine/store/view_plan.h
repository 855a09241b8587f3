// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Which device contributes which cells to a view of a job's state, and where each lies in the
/// memory of its node. Registrar, agents and clients compute it alike from the layout, so it never
/// travels.

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "ptc/layout.h"

namespace tessera::engine {

/// A cell of the state, packed row-major in the memory of `device`'s node.
struct ViewCell {
  int tensor = 0;
  ptc::Box box = ptc::Box::Scalar();
  ptc::DeviceId device;           // one of its holders
  std::int64_t size_bytes = 0;
  std::int64_t offset_bytes = 0;  // from the start of the node's memory
  friend bool operator==(const ViewCell&, const ViewCell&) = default;
};

/// Immutable. Equal on every machine for equal layouts.
class ViewPlan {
 public:
  /// Every element of the collection is in exactly one cell, which one of its holders contributes:
  /// of several the one that has the fewest bytes to copy so far, largest cells first.
  explicit ViewPlan(const ptc::Layout& layout);

  /// Ascending by (tensor, box). The index of a cell is its number on the wire.
  const std::vector<ViewCell>& cells() const { return cells_; }
  /// \pre 0 <= tensor, tensor is one of the layout's
  std::span<const ViewCell> CellsOf(int tensor) const;
  /// Bytes of memory that each node needs, its first page included.
  const std::map<std::int32_t, std::int64_t>& bytes_of_node() const { return bytes_of_node_; }
  std::int64_t total_bytes() const;
  /// xxh3-64 of all cells: differs where two programs divide a layout differently.
  std::uint64_t hash() const { return hash_; }

 private:
  std::vector<ViewCell> cells_;
  std::vector<std::size_t> first_of_tensor_;  // and the end
  std::map<std::int32_t, std::int64_t> bytes_of_node_;
  std::uint64_t hash_ = 0;
};

}  // namespace tessera::engine
