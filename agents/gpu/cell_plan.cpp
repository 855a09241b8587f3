// SPDX-License-Identifier: Apache-2.0
#include "agents/gpu/cell_plan.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>

#include "ptc/base/check.h"

namespace tessera::agents::gpu {
namespace {

/// A segment is taken by one group of threads: long enough that the coordinates of its run cost
/// little, short enough that a contiguous cell uses the whole device.
constexpr std::int64_t kSegmentBytes = 8192;
constexpr int kMostGroup = 32;

/// Walks the dims of one memory, the innermost first, in factors: bytes of a run, then runs.
class Factors {
 public:
  /// Packed bytes are one run.
  Factors(std::uint64_t first, std::int64_t bytes) : first_(first), left_(bytes) {}
  explicit Factors(const engine::CellView& view)
      : view_(&view),
        first_(reinterpret_cast<std::uint64_t>(view.Run(0))),
        dim_(view.outer_rank()),
        left_(view.run_bytes()) {}

  std::uint64_t first() const { return first_; }
  /// What is left of the present dim.
  std::int64_t left() const { return left_; }
  /// Takes a factor of what is left and returns its stride.
  /// \pre left() % factor == 0
  std::int64_t Take(std::int64_t factor) {
    const std::int64_t stride = stride_;
    left_ /= factor;
    stride_ *= factor;
    if (left_ == 1 && dim_ > 0) {
      --dim_;
      left_ = view_->outer_size(dim_);
      stride_ = view_->outer_stride_bytes(dim_);
    }
    return stride;
  }

 private:
  const engine::CellView* view_ = nullptr;
  std::uint64_t first_;
  int dim_ = 0;  // outer dims that are left
  std::int64_t left_;
  std::int64_t stride_ = 1;
};

CellWork Make(Factors from, std::optional<Factors> to, std::optional<Factors> index,
              std::int64_t size, std::int64_t begin, std::int64_t end, std::uint64_t digest) {
  TESSERA_DCHECK(0 <= begin && begin < end && end <= size);
  CellWork work;
  work.from.first = from.first();
  work.to.first = to ? to->first() : 0;
  work.index.first = index ? index->first() : 0;
  work.begin = begin;
  work.end = end;
  work.digest = digest;

  // The dims of all memories are cuts of the same cell, so that of two sizes one divides the other.
  std::array<std::int64_t, kMaxOuterDims + 1> sizes{};
  std::array<std::array<std::int64_t, 3>, kMaxOuterDims + 1> strides{};
  std::size_t count = 0;
  for (std::int64_t done = 1; done < size; ++count) {
    TESSERA_CHECK(count < sizes.size());
    std::int64_t factor = from.left();
    if (to) factor = std::min(factor, to->left());
    if (index) factor = std::min(factor, index->left());
    sizes[count] = factor;
    strides[count] = {from.Take(factor), to ? to->Take(factor) : 0,
                      index ? index->Take(factor) : 0};
    done *= factor;
  }
  work.run_bytes = count == 0 ? 1 : sizes[0];
  work.outer_dims = count == 0 ? 0 : static_cast<std::int32_t>(count) - 1;
  std::uint64_t aligned = work.from.first | work.to.first | work.index.first |
                          static_cast<std::uint64_t>(work.run_bytes | begin | end);
  for (std::size_t i = 1; i < count; ++i) {
    const std::size_t d = count - 1 - i;  // the innermost last
    work.size[d] = sizes[i];
    work.from.stride[d] = strides[i][0];
    work.to.stride[d] = strides[i][1];
    work.index.stride[d] = strides[i][2];
    aligned |= static_cast<std::uint64_t>(strides[i][0] | strides[i][1] | strides[i][2]);
  }
  work.unit = static_cast<std::int32_t>(std::min<std::uint64_t>(16, aligned & (~aligned + 1)));
  work.segment_bytes = std::min(work.run_bytes, kSegmentBytes);
  while (work.group < kMostGroup && work.group * work.unit < work.segment_bytes) work.group *= 2;
  return work;
}

std::optional<Factors> FactorsOf(const engine::CellView* indices) {
  return indices != nullptr ? std::optional<Factors>(*indices) : std::nullopt;
}

}  // namespace

CellWork CopyWork(const engine::CellView& from, const engine::CellView& to,
                  const engine::CellView* indices, std::int64_t begin, std::int64_t end,
                  std::uint64_t digest) {
  return Make(Factors(from), Factors(to), FactorsOf(indices), from.size_bytes(), begin, end,
              digest);
}

CellWork PackWork(const engine::CellView& from, PackedBytes to, const engine::CellView* indices,
                  std::int64_t end, std::uint64_t digest) {
  const Factors packed(to.address - static_cast<std::uint64_t>(to.begin), from.size_bytes());
  return Make(Factors(from), packed, FactorsOf(indices), from.size_bytes(), to.begin, end, digest);
}

CellWork UnpackWork(PackedBytes from, const engine::CellView& to, std::int64_t end) {
  const Factors packed(from.address - static_cast<std::uint64_t>(from.begin), to.size_bytes());
  return Make(packed, Factors(to), std::nullopt, to.size_bytes(), from.begin, end, 0);
}

CellWork DigestWork(const engine::CellView& from, const engine::CellView& indices,
                    std::int64_t begin, std::int64_t end, std::uint64_t digest) {
  return Make(Factors(from), std::nullopt, FactorsOf(&indices), from.size_bytes(), begin, end,
              digest);
}

}  // namespace tessera::agents::gpu
