// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Shapes and boxes of element indices: the only geometry the planner computes with.
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

/// Elements of a shape; 1 for a scalar.
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
/// Invariant: `begin < end` in every dimension; "no elements" is always `std::nullopt`. The rank-0
/// box is a scalar and holds one element. Trivially copyable, immutable once made.
class Box {
 public:
  /// \error kInvalidArgument if `dims` has more than kMaxRank entries, if an entry has
  ///     `begin < 0` or `begin >= end`, or if the element count overflows int64.
  static Result<Box> Make(std::span<const Interval> dims);
  /// The box of a whole tensor, or nullopt where a size is 0.
  /// \pre NumElements(shape) is a value
  static std::optional<Box> Whole(const Shape& shape);
  /// The rank-0 box.
  static Box Scalar() { return Box(); }

  int rank() const { return rank_; }
  /// \pre 0 <= dim && dim < rank()
  const Interval& operator[](int dim) const {
    TESSERA_DCHECK(0 <= dim && dim < rank_);
    return dims_[static_cast<std::size_t>(dim)];
  }
  /// Elements, not bytes. Always >= 1.
  std::int64_t num_elements() const;
  /// Sizes along each dimension.
  Shape shape() const;

  friend auto operator<=>(const Box&, const Box&) = default;
  friend std::optional<Box> Intersect(const Box& a, const Box& b);
  friend std::vector<Box> Subtract(const Box& from, const Box& hole);

 private:
  Box() = default;
  std::array<Interval, kMaxRank> dims_{};  // entries past rank_ stay {0, 0}, so == is by value
  int rank_ = 0;
};

/// Elements in both boxes, or nullopt. \pre a.rank() == b.rank()
std::optional<Box> Intersect(const Box& a, const Box& b);
/// Whether every element of `inner` lies in `outer`. \pre equal ranks
bool Contains(const Box& outer, const Box& inner);
/// `from` without `hole` as disjoint boxes, at most 2 * rank of them, dimension 0 first, low side
/// before high side: the order is part of the contract. \pre equal ranks
std::vector<Box> Subtract(const Box& from, const Box& hole);
/// The same of each of some boxes, one after another; disjoint where they are. \pre equal ranks
std::vector<Box> Subtract(const std::vector<Box>& from, const Box& hole);
/// Where `inner` starts inside the row-major memory of `outer`, in elements, if it is one
/// contiguous range there; nullopt if it is not. \pre Contains(outer, inner)
std::optional<std::int64_t> ContiguousOffset(const Box& outer, const Box& inner);
/// "[0:512,0:256]", "[]" for a scalar.
std::string ToString(const Box& box);

}  // namespace tessera::ptc
