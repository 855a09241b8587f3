// SPDX-License-Identifier: Apache-2.0
#include "ptc/box.h"

#include <fmt/format.h>

#include <algorithm>

#include "ptc/base/at.h"

namespace tessera::ptc {
Result<std::int64_t> NumElements(const Shape& shape) {
  if (shape.size() > static_cast<std::size_t>(kMaxRank)) {
    return InvalidArgument(fmt::format("shape has {} dims, at most {}", shape.size(), kMaxRank));
  }
  std::int64_t product = 1;
  bool empty = false;
  bool overflow = false;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] < 0) {
      return InvalidArgument(fmt::format("dim {} = {} of a shape is negative", d, shape[d]));
    }
    empty = empty || shape[d] == 0;
    overflow = overflow || __builtin_mul_overflow(product, shape[d], &product);
  }
  if (empty) return 0;
  if (overflow) {
    return InvalidArgument(fmt::format("shape {} has more than 2^63-1 elements", ToString(shape)));
  }
  return product;
}

std::string ToString(const Shape& shape) { return fmt::format("[{}]", fmt::join(shape, ",")); }

Result<Box> Box::Make(std::span<const Interval> dims) {
  if (dims.size() > static_cast<std::size_t>(kMaxRank)) {
    return InvalidArgument(fmt::format("box has {} dims, at most {}", dims.size(), kMaxRank));
  }
  Box box;
  box.rank_ = static_cast<int>(dims.size());
  std::int64_t product = 1;
  for (std::size_t d = 0; d < dims.size(); ++d) {
    const Interval& dim = dims[d];
    if (dim.begin < 0 || dim.begin >= dim.end) {
      return InvalidArgument(
          fmt::format("dim {} = [{}:{}] of a box is not 0 <= begin < end", d, dim.begin, dim.end));
    }
    if (__builtin_mul_overflow(product, dim.size(), &product)) {
      return InvalidArgument("box has more than 2^63-1 elements");
    }
    box.dims_[d] = dim;
  }
  return box;
}

std::optional<Box> Box::Whole(const Shape& shape) {
  TESSERA_DCHECK(NumElements(shape).has_value());
  Box box;
  box.rank_ = static_cast<int>(shape.size());
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] == 0) return std::nullopt;
    box.dims_[d] = {0, shape[d]};
  }
  return box;
}

std::int64_t Box::num_elements() const {
  std::int64_t product = 1;
  for (int d = 0; d < rank_; ++d) product *= dims_[At(d)].size();
  return product;
}

Shape Box::shape() const {
  Shape sizes(At(rank_));
  for (int d = 0; d < rank_; ++d) sizes[At(d)] = dims_[At(d)].size();
  return sizes;
}

std::optional<Box> Intersect(const Box& a, const Box& b) {
  TESSERA_DCHECK(a.rank() == b.rank());
  Box both = a;
  for (int d = 0; d < a.rank(); ++d) {
    Interval& dim = both.dims_[At(d)];
    dim = {std::max(a[d].begin, b[d].begin), std::min(a[d].end, b[d].end)};
    if (dim.begin >= dim.end) return std::nullopt;
  }
  return both;
}

bool Contains(const Box& outer, const Box& inner) {
  TESSERA_DCHECK(outer.rank() == inner.rank());
  for (int d = 0; d < outer.rank(); ++d) {
    if (inner[d].begin < outer[d].begin || inner[d].end > outer[d].end) return false;
  }
  return true;
}

std::vector<Box> Subtract(const Box& from, const Box& hole) {
  const std::optional<Box> overlap = Intersect(from, hole);
  if (!overlap) return {from};
  // Peel the two faces of each dimension in turn; `core` shrinks towards the overlap:
  //
  //   +-----------+      +-----------+
  //   |   +---+   |      |   dim 0 low
  //   |   | o |   |  ->  +---+---+---+
  //   |   +---+   |      | 1 | o | 1 |
  //   +-----------+      +---+---+---+  then dim 0 high
  std::vector<Box> pieces;
  Box core = from;
  for (int d = 0; d < from.rank(); ++d) {
    const Interval whole = core[d];
    const Interval kept = (*overlap)[d];
    if (whole.begin < kept.begin) {
      pieces.push_back(core);
      pieces.back().dims_[At(d)].end = kept.begin;
    }
    if (kept.end < whole.end) {
      pieces.push_back(core);
      pieces.back().dims_[At(d)].begin = kept.end;
    }
    core.dims_[At(d)] = kept;
  }
  return pieces;
}

std::vector<Box> Subtract(const std::vector<Box>& from, const Box& hole) {
  std::vector<Box> rest;
  for (const Box& box : from) {
    for (const Box& piece : Subtract(box, hole)) rest.push_back(piece);
  }
  return rest;
}

std::optional<std::int64_t> ContiguousOffset(const Box& outer, const Box& inner) {
  TESSERA_DCHECK(Contains(outer, inner));
  // Contiguous: at most one dimension is cut with a size above 1; all outer to it have size 1, all
  // inner to it are whole.
  std::int64_t offset = 0;
  bool past_cut = false;
  for (int d = 0; d < outer.rank(); ++d) {
    if (past_cut && inner[d] != outer[d]) return std::nullopt;
    past_cut = past_cut || inner[d].size() > 1;
    offset = offset * outer[d].size() + (inner[d].begin - outer[d].begin);
  }
  return offset;
}

std::string ToString(const Box& box) {
  std::string text = "[";
  for (int d = 0; d < box.rank(); ++d) {
    fmt::format_to(std::back_inserter(text), "{}{}:{}", d == 0 ? "" : ",", box[d].begin,
                   box[d].end);
  }
  return text + "]";
}

}  // namespace tessera::ptc
