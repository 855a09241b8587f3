// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The bytes of a cell inside a piece, as if they were packed.

#include <cstddef>
#include <cstdint>
#include <span>

#include "ptc/box.h"

namespace tessera::engine {

/// The bytes of box `cell`, in row-major order, inside the row-major memory of box `piece`, which
/// the caller owns.
/// \threadsafety Several threads may read and write disjoint byte ranges.
class CellView {
 public:
  /// \param piece_data the first element of `piece`
  /// \pre Contains(piece, cell)
  CellView(const ptc::Box& piece, const ptc::Box& cell, std::int64_t element_bytes,
           std::byte* piece_data);

  std::int64_t size_bytes() const { return size_bytes_; }
  /// Gathers bytes [offset, offset + out.size()) of the packed cell.
  /// \pre the range lies inside size_bytes()
  void Read(std::int64_t offset, std::span<std::byte> out) const;
  /// Scatters `in` to bytes [offset, offset + in.size()) of the packed cell.
  /// \pre the range lies inside size_bytes()
  void Write(std::int64_t offset, std::span<const std::byte> in) const;

  /// Bytes of one contiguous run, and the number of runs. size_bytes() == run_bytes() * num_runs().
  std::int64_t run_bytes() const { return run_bytes_; }
  std::int64_t num_runs() const { return num_runs_; }
  /// The first byte of run `i`.
  /// \pre 0 <= i < num_runs()
  std::byte* Run(std::int64_t i) const;

  /// The dimensions across runs, the outermost first.
  /// \pre 0 <= d && d < outer_rank()
  int outer_rank() const { return outer_rank_; }
  std::int64_t outer_size(int d) const { return outer_size_[d]; }
  std::int64_t outer_stride_bytes(int d) const { return outer_stride_bytes_[d]; }

 private:
  friend class RunWalker;
  std::byte* base_ = nullptr;     // first element of the piece
  std::int64_t first_bytes_ = 0;  // of the cell inside the piece
  std::int64_t size_bytes_ = 0;
  std::int64_t run_bytes_ = 0;
  std::int64_t num_runs_ = 1;
  int outer_rank_ = 0;  // dimensions across runs, innermost last
  std::int64_t outer_size_[ptc::kMaxRank] = {};
  std::int64_t outer_stride_bytes_[ptc::kMaxRank] = {};
};

/// Copies a cell from one piece into another.
/// \pre the sizes of the cells are equal
void CopyCell(const CellView& to, const CellView& from);

}  // namespace tessera::engine
