// SPDX-License-Identifier: Apache-2.0
#include "engine/copy/cell_view.h"

#include <algorithm>
#include <cstring>

#include "engine/copy/run_walker.h"
#include "ptc/base/check.h"

namespace tessera::engine {

CellView::CellView(const ptc::Box& piece, const ptc::Box& cell, std::int64_t element_bytes,
                   std::byte* piece_data)
    : base_(piece_data),
      size_bytes_(cell.num_elements() * element_bytes),
      run_bytes_(element_bytes) {
  TESSERA_DCHECK(Contains(piece, cell));
  std::int64_t stride = element_bytes;  // of dim d of the piece, bytes
  for (int d = piece.rank() - 1; d >= 0; --d) {
    first_bytes_ += (cell[d].begin - piece[d].begin) * stride;
    const std::int64_t size = cell[d].size();
    const std::int64_t last = outer_rank_ - 1;
    if (size == 1) {
      // One index: the dimension only moves the start.
    } else if (outer_rank_ == 0 && stride == run_bytes_) {
      run_bytes_ *= size;
    } else if (outer_rank_ > 0 && stride == outer_size_[last] * outer_stride_bytes_[last]) {
      outer_size_[last] *= size;
    } else {
      outer_size_[outer_rank_] = size;
      outer_stride_bytes_[outer_rank_] = stride;
      ++outer_rank_;
    }
    stride *= piece[d].size();
  }
  std::reverse(outer_size_, outer_size_ + outer_rank_);
  std::reverse(outer_stride_bytes_, outer_stride_bytes_ + outer_rank_);
  num_runs_ = size_bytes_ / run_bytes_;
}

std::byte* CellView::Run(std::int64_t i) const {
  TESSERA_DCHECK(0 <= i && i < num_runs_);
  std::int64_t offset = first_bytes_;
  for (int d = outer_rank_ - 1; d >= 0; --d) {
    offset += i % outer_size_[d] * outer_stride_bytes_[d];
    i /= outer_size_[d];
  }
  return base_ + offset;
}

void CellView::Read(std::int64_t offset, std::span<std::byte> out) const {
  if (out.empty()) return;
  TESSERA_DCHECK(0 <= offset && offset + std::ssize(out) <= size_bytes_);
  RunWalker from(*this, offset);
  for (std::int64_t done = 0; done < std::ssize(out);) {
    const std::int64_t bytes = std::min(from.remaining(), std::ssize(out) - done);
    std::memcpy(out.data() + done, from.data(), static_cast<std::size_t>(bytes));
    from.Advance(bytes);
    done += bytes;
  }
}

void CellView::Write(std::int64_t offset, std::span<const std::byte> in) const {
  if (in.empty()) return;
  TESSERA_DCHECK(0 <= offset && offset + std::ssize(in) <= size_bytes_);
  RunWalker to(*this, offset);
  for (std::int64_t done = 0; done < std::ssize(in);) {
    const std::int64_t bytes = std::min(to.remaining(), std::ssize(in) - done);
    std::memcpy(to.data(), in.data() + done, static_cast<std::size_t>(bytes));
    to.Advance(bytes);
    done += bytes;
  }
}

void CopyCell(const CellView& to, const CellView& from) {
  TESSERA_DCHECK(to.size_bytes() == from.size_bytes());
  RunWalker target(to, 0);
  RunWalker source(from, 0);
  for (std::int64_t left = to.size_bytes(); left > 0;) {
    const std::int64_t bytes = std::min(target.remaining(), source.remaining());
    std::memcpy(target.data(), source.data(), static_cast<std::size_t>(bytes));
    target.Advance(bytes);
    source.Advance(bytes);
    left -= bytes;
  }
}

}  // namespace tessera::engine
