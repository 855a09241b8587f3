// SPDX-License-Identifier: Apache-2.0
#include "ptc/packed.h"

#include <fmt/format.h>

#include <array>
#include <span>

namespace tessera::ptc {
namespace {

/// The dim at which a packed shape turns into bytes.
/// \pre the shape has a ByteCount
struct Fold {
  int dim = 0;             // k; meaningless for rank 0
  std::int64_t inner = 1;  // elements per index of dim k
  std::int64_t bits = 0;   // of one element
  std::int64_t ToByte(std::int64_t index) const { return index * inner * bits / 8; }
  bool IsBetweenBytes(std::int64_t index) const { return index * inner * bits % 8 == 0; }
};

Fold FoldOf(DType dtype, const Shape& shape) {
  Fold fold{static_cast<int>(shape.size()) - 1, 1, SizeBits(dtype)};
  // If a dim has size 0, the products of the dims outside it are 0 as well.
  while (fold.dim > 0 && !fold.IsBetweenBytes(shape[static_cast<std::size_t>(fold.dim)])) {
    fold.inner *= shape[static_cast<std::size_t>(fold.dim)];
    --fold.dim;
  }
  return fold;
}

Error InsideByte(DType dtype, const Shape& shape, int dim, const Interval& cut, bool at_begin) {
  return InvalidArgument(fmt::format("the cut at {} of dim {} lies inside a byte of {} {}",
                                     at_begin ? cut.begin : cut.end, dim, ToString(dtype),
                                     ToString(shape)));
}

}  // namespace

Result<std::int64_t> ByteCount(DType dtype, const Shape& shape) {
  TESSERA_TRY(const std::int64_t elements, NumElements(shape));
  std::int64_t bits = 0;
  std::int64_t bytes = 0;
  if (!IsPacked(dtype)) {
    if (!__builtin_mul_overflow(elements, SizeBytes(dtype), &bytes)) return bytes;
  } else if (!__builtin_mul_overflow(elements, SizeBits(dtype), &bits)) {
    if (bits % 8 == 0) return bits / 8;
    return InvalidArgument(fmt::format("{} {} has {} bits, not a whole number of bytes",
                                       ToString(dtype), ToString(shape), bits));
  }
  return InvalidArgument(
      fmt::format("shape {} of {} has more than 2^63-1 bytes", ToString(shape), ToString(dtype)));
}

Result<Shape> UnitShape(DType dtype, const Shape& shape) {
  if (!IsPacked(dtype)) return shape;
  TESSERA_TRY(const std::int64_t bytes, ByteCount(dtype, shape));
  if (bytes == 0) return shape;  // without bytes the units do not matter
  const Fold fold = FoldOf(dtype, shape);
  Shape units(shape.begin(), shape.begin() + fold.dim);
  units.push_back(fold.ToByte(shape[static_cast<std::size_t>(fold.dim)]));
  return units;
}

Result<Box> UnitBox(DType dtype, const Shape& shape, const Box& box) {
  if (!IsPacked(dtype)) return box;
  TESSERA_RETURN_IF_ERROR(ByteCount(dtype, shape));
  const Fold fold = FoldOf(dtype, shape);
  for (int d = fold.dim + 1; d < box.rank(); ++d) {
    if (box[d].begin > 0) return InsideByte(dtype, shape, d, box[d], true);
    if (box[d].end < shape[static_cast<std::size_t>(d)]) {
      return InsideByte(dtype, shape, d, box[d], false);
    }
  }
  const Interval& last = box[fold.dim];
  if (!fold.IsBetweenBytes(last.begin)) return InsideByte(dtype, shape, fold.dim, last, true);
  if (!fold.IsBetweenBytes(last.end)) return InsideByte(dtype, shape, fold.dim, last, false);
  std::array<Interval, kMaxRank> dims{};
  for (int d = 0; d < fold.dim; ++d) dims[static_cast<std::size_t>(d)] = box[d];
  dims[static_cast<std::size_t>(fold.dim)] = {fold.ToByte(last.begin), fold.ToByte(last.end)};
  return Box::Make(std::span(dims).first(static_cast<std::size_t>(fold.dim) + 1));
}

}  // namespace tessera::ptc
