// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// From two layouts of one tensor to cells: the finest common boxes, with the devices that hold
/// each and the devices that need it.
///
/// Equal pieces are joined first. Dim 0 is then cut at all starts and ends of old and new pieces,
/// each slab in dim 1 at those of the pieces that cross it, and so on. No pair of pieces is ever
/// compared, and a ragged piece (a flat cut has them) cuts only the slabs that it reaches into, not
/// the grid.

#include <cstdint>
#include <vector>

#include "ptc/layout.h"

namespace tessera::ptc {

/// A set of devices as positions in a table of DevicesOf.
class DeviceSet {
 public:
  explicit DeviceSet(std::size_t capacity = 0) : words_((capacity + 63) / 64) {}
  void Insert(std::size_t device) { words_[device / 64] |= std::uint64_t{1} << (device % 64); }
  /// \pre equal capacities
  void InsertAll(const DeviceSet& other) {
    for (std::size_t w = 0; w < words_.size(); ++w) words_[w] |= other.words_[w];
  }
  bool Contains(std::size_t device) const {
    return (words_[device / 64] >> (device % 64) & 1) != 0;
  }
  bool empty() const;
  std::size_t size() const;
  /// Ascending positions.
  std::vector<std::size_t> ToVector() const;
  friend bool operator==(const DeviceSet&, const DeviceSet&) = default;

 private:
  std::vector<std::uint64_t> words_;
};

/// Devices of either layout, ascending, each once.
std::vector<DeviceId> DevicesOf(const Layout& from, const Layout& to);

/// What each device holds and needs of one tensor; indices are positions in the device table.
struct TensorPieces {
  std::vector<std::vector<Box>> held;
  std::vector<std::vector<Box>> needed;
};
/// \pre `from` and `to` are of the same tensors; `devices` is DevicesOf(from, to)
TensorPieces PiecesOf(const Layout& from, const Layout& to, const std::vector<DeviceId>& devices,
                      int tensor);

/// A common box. Every old or new piece is a disjoint union of cells.
struct Cell {
  Box box;
  DeviceSet holders;
  DeviceSet needers;
  friend bool operator==(const Cell&, const Cell&) = default;
};
/// Cells that at least one device holds or needs, in ascending order of their boxes.
/// \pre the pieces of one device and side are disjoint; all have the same rank
std::vector<Cell> MakeCells(const TensorPieces& pieces);

}  // namespace tessera::ptc
