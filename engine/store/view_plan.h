// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Which device contributes which cells to a view or a snapshot of a job's state, and where each
/// cell lies in the memory of the device's node. Registrar, agents and clients compute the plan
/// from the layout, so it is never sent.

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "ptc/layout.h"

namespace tessera::engine {

/// A cell of the state, packed row-major in the memory of the node of `device`.
struct ViewCell {
  int tensor = 0;
  ptc::Box box = ptc::Box::Scalar();
  ptc::DeviceId device;    // one of its holders; index kFetched: a node without a holder
  bool is_second = false;  // the cell before it is its first copy, on another node
  std::int64_t size_bytes = 0;
  std::int64_t offset_bytes = 0;  // from the start of the node's memory
  /// No device of the node holds the cell: the node fetches it from the one with the first copy.
  static constexpr std::int32_t kFetched = -1;
  bool is_fetched() const { return device.index == kFetched; }
  friend bool operator==(const ViewCell&, const ViewCell&) = default;
};

/// Immutable. Equal on every machine for equal layouts.
class ViewPlan {
 public:
  /// Every element of the collection is in exactly one cell. One holder contributes it: the one
  /// with the fewest bytes to copy so far, where the largest cells choose first.
  explicit ViewPlan(const ptc::Layout& layout) : ViewPlan(layout, 1) {}
  /// As a view, with a second copy of each cell on another node: that of another holder, which
  /// copies it, or the next node of the ring, which fetches it. The ring has the nodes of the mesh
  /// in ascending order, and the guest: a node outside the mesh that keeps the second copies of a
  /// job on a single node. Without one, there are none.
  static ViewPlan OfSnapshot(const ptc::Layout& layout, std::optional<std::int32_t> guest = {}) {
    return ViewPlan(layout, 2, guest);
  }

  /// Ascending by (tensor, box), a second copy behind the first.
  const std::vector<ViewCell>& cells() const { return cells_; }
  /// \pre `tensor` is an index into the layout's collection
  std::span<const ViewCell> CellsOf(int tensor) const;
  /// The cell in the memory of `node` that contains `box`, or nullptr. Logarithmic in the cells of
  /// the tensor if `box` is a whole cell, else linear.
  /// \pre as CellsOf; box has the rank of the tensor
  const ViewCell* FindContaining(int tensor, const ptc::Box& box, std::int32_t node) const;
  /// Bytes of memory that each node needs, with its header.
  const std::map<std::int32_t, std::int64_t>& bytes_of_node() const { return bytes_of_node_; }
  std::int64_t total_bytes() const;
  std::set<std::int32_t> nodes() const;
  /// Whether these nodes together have a copy of each cell.
  bool IsCoveredBy(const std::set<std::int32_t>& nodes) const;
  /// xxh3-64 of all cells. Two programs that divide a layout differently have different hashes.
  std::uint64_t hash() const { return hash_; }

 private:
  ViewPlan(const ptc::Layout& layout, int copies, std::optional<std::int32_t> guest = {});

  std::vector<ViewCell> cells_;
  std::vector<std::size_t> first_of_tensor_;  // and the end of the last
  std::map<std::int32_t, std::int64_t> bytes_of_node_;
  std::uint64_t hash_ = 0;
};

}  // namespace tessera::engine
