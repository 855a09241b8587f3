// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Shapes and boxes of element indices, the only geometry that the planner computes with.
/// Every coordinate is an element index.

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ptc/base/check.h"
#include "ptc/base/result.h"

namespace tessera::ptc {

inline constexpr int kMaxRank = 8;

/// Sizes of the dimensions, outermost first. A scalar has none. A size of 0 is legal.
using Shape = std::vector<std::int64_t>;

/// The number of elements of a shape; 1 for a scalar.
/// \error kInvalidArgument if a size is negative, the rank exceeds kMaxRank or the product
///     overflows int64.
Result<std::int64_t> NumElements(const Shape& shape);
/// "[3,256]", "[]" for a scalar.
std::string ToString(const Shape& shape);

/// Half-open range [begin, end) along one dimension.
struct Interval {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  constexpr std::int64_t size() const { return end - begin; }
  friend constexpr auto operator<=>(const Interval&, const Interval&) = default;
};

/// A non-empty box of element indices of one tensor.
///
/// Invariant: `begin < end` in every dimension. A function that may return no elements returns
/// `std::optional<Box>`. The box of rank 0 is a scalar and has one element. Trivially copyable,
/// immutable once made.
class Box {
 public:
  /// \error kInvalidArgument if `dims` has more than kMaxRank entries, if an entry has
  ///     `begin < 0` or `begin >= end`, or if the element count overflows int64.
  static Result<Box> Make(std::span<const Interval> dims);
  /// The box of a whole tensor, or nullopt if a size is 0.
  /// \pre NumElements(shape) is a value
  static std::optional<Box> Whole(const Shape& shape);
  /// The box of rank 0.
  static Box Scalar() { return Box(); }

  int rank() const { return rank_; }
  /// \pre 0 <= dim && dim < rank()
  const Interval& operator[](int dim) const {
    TESSERA_DCHECK(0 <= dim && dim < rank_);
    return dims_[static_cast<std::size_t>(dim)];
  }
  /// The number of elements, always >= 1.
  std::int64_t num_elements() const;
  /// The sizes along the dimensions.
  Shape shape() const;

  friend auto operator<=>(const Box&, const Box&) = default;
  friend std::optional<Box> Intersect(const Box& a, const Box& b);
  friend std::vector<Box> Subtract(const Box& from, const Box& hole);

 private:
  Box() = default;
  std::array<Interval, kMaxRank> dims_{};  // entries past rank_ stay {0, 0}, so == is by value
  int rank_ = 0;
};

/// The elements that are in both boxes, or nullopt if there are none.
/// \pre a.rank() == b.rank()
std::optional<Box> Intersect(const Box& a, const Box& b);
/// Whether every element of `inner` is in `outer`.
/// \pre the ranks are equal
bool Contains(const Box& outer, const Box& inner);
/// Subtracts `hole` from `from`. The result is at most 2 * rank disjoint boxes: those of dimension
/// 0 first, and in each dimension the low side before the high side. Callers rely on this order.
/// \pre the ranks are equal
std::vector<Box> Subtract(const Box& from, const Box& hole);
/// Subtracts `hole` from each box of `from`, in order. The results are disjoint if the boxes of
/// `from` are.
/// \pre the ranks are equal
std::vector<Box> Subtract(const std::vector<Box>& from, const Box& hole);
/// If the elements of `inner` are one contiguous range of the row-major memory of `outer`, returns
/// the offset of that range in elements; else nullopt.
/// \pre Contains(outer, inner)
std::optional<std::int64_t> ContiguousOffset(const Box& outer, const Box& inner);
/// "[0:512,0:256]", "[]" for a scalar.
std::string ToString(const Box& box);

}  // namespace tessera::ptc
