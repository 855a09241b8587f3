// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Tensors in the units in which their bytes are addressed.
///
/// Elements of whole bytes are addressed one by one: their units are the elements. Elements below
/// one byte (f4, f6e2m3, f6e3m2) lie row-major without a gap and are opaque: their units are the
/// bytes. With k the innermost dim at which a multiple of 8 bits lies in the dims from k on, a
/// packed tensor [n0,…,nk,…] is a tensor of bytes [n0,…,n(k-1), bits(nk·…)/8], and a box of it is a
/// box of bytes where its cuts fall between bytes. All that moves, compares or sums bytes computes
/// with units; names, rules and headers speak of elements.

#include <cstdint>

#include "ptc/base/result.h"
#include "ptc/box.h"
#include "ptc/dtype.h"

namespace tessera::ptc {

/// Bytes of a tensor.
/// \error kInvalidArgument: a shape beyond int64, more than 2^63-1 bytes, no whole number of bytes
Result<std::int64_t> ByteCount(DType dtype, const Shape& shape);
/// The shape in units. \error as ByteCount
Result<Shape> UnitShape(DType dtype, const Shape& shape);
/// A box in units. \pre `box` lies in `shape`
/// \error as UnitShape; kInvalidArgument naming the dim and the cut that lies inside a byte
Result<Box> UnitBox(DType dtype, const Shape& shape, const Box& box);

}  // namespace tessera::ptc
