// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Cuts a tensor into tiles: boxes that fit into a buffer and are each one contiguous row-major
/// range of the tensor. The intersection of a tile with any box that is stored row-major is one
/// contiguous range of the stored bytes. So each tile costs one read per source box and one write
/// per destination box, however the tensor is cut on either side.

#include <cstdint>
#include <vector>

#include "ptc/box.h"

namespace tessera::reshard {

/// The tiles of one tensor, in row-major order. Let k be the outermost dim whose inner dims fit
/// into a tile together. A tile is one index of each dim before k, a range of k, and all inner
/// dims.
class Tiles {
 public:
  /// \pre shape has a NumElements, most_elements >= 1
  Tiles(ptc::Shape shape, std::int64_t most_elements);
  std::int64_t count() const { return count_; }
  /// \pre 0 <= i < count()
  ptc::Box At(std::int64_t i) const;

 private:
  ptc::Shape shape_;
  std::int64_t count_ = 0;
  std::size_t cut_dim_ = 0;         // k; not used for rank 0
  std::int64_t rows_ = 1;           // indices of dim k in a tile
  std::int64_t tiles_per_row_ = 1;  // tiles along dim k
};

/// Row-major index of the first element of `box` in a tensor.
std::int64_t FirstIndex(const ptc::Shape& shape, const ptc::Box& box);
/// The indices of the element at row-major position `index`.
std::vector<std::int64_t> IndicesOf(const ptc::Shape& shape, std::int64_t index);

/// The tiles of many tensors as one sequence.
class TileSequence {
 public:
  struct Extent {
    ptc::Shape shape;
    std::int64_t element_bytes = 1;  // if the dtype is converted, the larger of both
  };
  struct Tile {
    int tensor = 0;
    ptc::Box box;
  };

  /// \pre tile_bytes >= every element_bytes
  TileSequence(const std::vector<Extent>& tensors, std::int64_t tile_bytes);
  std::int64_t count() const { return first_.back(); }
  /// \pre 0 <= i < count()
  Tile At(std::int64_t i) const;

 private:
  std::vector<Tiles> tiles_;
  std::vector<std::int64_t> first_;  // the first tile of each tensor, then the number of tiles
};

}  // namespace tessera::reshard
