// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Which device contributes which cells to a view of a job's state, and where each cell lies in the
/// memory of the device's node. Registrar, agents and clients compute the plan from the layout, so
/// it is never sent.

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "ptc/layout.h"

namespace tessera::engine {

/// A cell of the state, packed row-major in the memory of the node of `device`.
struct ViewCell {
  int tensor = 0;
  ptc::Box box = ptc::Box::Scalar();
  ptc::DeviceId device;  // one of its holders
  std::int64_t size_bytes = 0;
  std::int64_t offset_bytes = 0;  // from the start of the node's memory
  friend bool operator==(const ViewCell&, const ViewCell&) = default;
};

/// Immutable. Equal on every machine for equal layouts.
class ViewPlan {
 public:
  /// Every element of the collection is in exactly one cell. One holder contributes it: the one
  /// with the fewest bytes to copy so far, where the largest cells choose first.
  explicit ViewPlan(const ptc::Layout& layout);

  /// Ascending by (tensor, box). Messages identify a cell by its index.
  const std::vector<ViewCell>& cells() const { return cells_; }
  /// \pre `tensor` is an index into the layout's collection
  std::span<const ViewCell> CellsOf(int tensor) const;
  /// Bytes of memory that each node needs, with its header.
  const std::map<std::int32_t, std::int64_t>& bytes_of_node() const { return bytes_of_node_; }
  std::int64_t total_bytes() const;
  /// xxh3-64 of all cells. Two programs that divide a layout differently have different hashes.
  std::uint64_t hash() const { return hash_; }

 private:
  std::vector<ViewCell> cells_;
  std::vector<std::size_t> first_of_tensor_;  // and the end of the last
  std::map<std::int32_t, std::int64_t> bytes_of_node_;
  std::uint64_t hash_ = 0;
};

}  // namespace tessera::engine
