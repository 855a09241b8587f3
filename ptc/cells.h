// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Computes the cells of one tensor in two layouts: the finest common boxes of its old and new
/// pieces, with the owners that hold or need each.
///
/// Equal pieces are joined first. Dim 0 is then cut at all starts and ends of pieces. Each slab is
/// cut in dim 1 at the starts and ends of the pieces that cross it, and so on. So no pair of pieces
/// is compared, and the ragged piece of a flat cut divides only the slabs that it reaches.

#include <cstddef>
#include <vector>

#include "ptc/layout.h"

namespace tessera::ptc {

/// A set of owners, as ascending positions in a table such as the parts of a layout. Cells have few
/// owners if parts own them, so the members are a list.
class DeviceSet {
 public:
  void Insert(std::size_t owner);
  void InsertAll(const DeviceSet& other);
  bool Contains(std::size_t owner) const;
  bool empty() const { return members_.empty(); }
  std::size_t size() const { return members_.size(); }
  /// Ascending positions.
  const std::vector<std::size_t>& ToVector() const { return members_; }
  friend bool operator==(const DeviceSet&, const DeviceSet&) = default;

 private:
  std::vector<std::size_t> members_;
};

/// The devices of both layouts, ascending, each once.
std::vector<DeviceId> DevicesOf(const Layout& from, const Layout& to);

/// The pieces of one tensor that each owner holds and needs.
struct TensorPieces {
  std::vector<std::vector<Box>> held;    // by owner of the old side
  std::vector<std::vector<Box>> needed;  // by owner of the new side
};

/// A common box with its owners. Every old or new piece is a disjoint union of cells.
struct Cell {
  Box box;
  DeviceSet holders;
  DeviceSet needers;
  friend bool operator==(const Cell&, const Cell&) = default;
};
/// The cells that at least one owner holds or needs, in ascending order of their boxes.
/// \pre the pieces of one owner on one side are disjoint; all pieces have the same rank
std::vector<Cell> MakeCells(const TensorPieces& pieces);

}  // namespace tessera::ptc
