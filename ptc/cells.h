// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// From two layouts of one tensor to cells: the finest common boxes, with who holds each and who
/// needs it.
///
/// Equal pieces are joined first. Dim 0 is then cut at all starts and ends of old and new pieces,
/// each slab in dim 1 at those of the pieces that cross it, and so on. No pair of pieces is ever
/// compared, and a ragged piece (a flat cut has them) cuts only the slabs that it reaches into, not
/// the grid.

#include <cstddef>
#include <vector>

#include "ptc/layout.h"

namespace tessera::ptc {

/// A set of owners as ascending positions in a table: devices of DevicesOf, or parts of a layout.
/// Cells have few owners where parts own them, so members are listed.
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

/// Devices of either layout, ascending, each once.
std::vector<DeviceId> DevicesOf(const Layout& from, const Layout& to);

/// What each owner holds and needs of one tensor.
struct TensorPieces {
  std::vector<std::vector<Box>> held;    // by owner on the old side
  std::vector<std::vector<Box>> needed;  // by owner on the new side
};
/// Owners on both sides are the devices. \pre `from` and `to` are of the same tensors; `devices` is
/// DevicesOf(from, to)
TensorPieces PiecesOf(const Layout& from, const Layout& to, const std::vector<DeviceId>& devices,
                      int tensor);

/// A common box. Every old or new piece is a disjoint union of cells.
struct Cell {
  Box box;
  DeviceSet holders;
  DeviceSet needers;
  friend bool operator==(const Cell&, const Cell&) = default;
};
/// Cells that at least one owner holds or needs, in ascending order of their boxes.
/// \pre the pieces of one owner and side are disjoint; all have the same rank
std::vector<Cell> MakeCells(const TensorPieces& pieces);

}  // namespace tessera::ptc
