// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Walks the bytes of a packed cell in order and returns the position of each in the piece. Two
/// walkers in lockstep copy between pieces of different shapes.

#include <cstdint>

#include "engine/copy/cell_view.h"

namespace tessera::engine {

class RunWalker {
 public:
  /// Starts at byte `offset` of the packed cell.
  /// \param view outlives the walker
  /// \pre 0 <= offset && offset < view.size_bytes()
  RunWalker(const CellView& view, std::int64_t offset);

  /// Offset of the current byte from the first element of the piece.
  std::int64_t piece_offset() const { return run_offset_ + inside_; }
  std::byte* data() const { return view_.base_ + piece_offset(); }
  /// Bytes from here to the end of the current run; 0 at the end of the cell.
  std::int64_t remaining() const { return view_.run_bytes_ - inside_; }
  /// \pre 0 <= bytes && bytes <= remaining()
  void Advance(std::int64_t bytes) {
    inside_ += bytes;
    if (inside_ == view_.run_bytes_) NextRun();
  }

 private:
  void NextRun();

  const CellView& view_;
  std::int64_t index_[ptc::kMaxRank] = {};  // of the current run along each outer dim
  std::int64_t run_offset_ = 0;             // of the current run inside the piece, bytes
  std::int64_t inside_ = 0;                 // bytes of the current run already passed
};

}  // namespace tessera::engine
