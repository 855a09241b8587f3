// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Converts shapes and boxes of elements into units, in which the bytes of a tensor are addressed.
///
/// If elements are whole bytes, each element is a unit. Elements below one byte (f4, f6e2m3,
/// f6e3m2) are stored row-major without gaps and are opaque; there each byte is a unit. Let k be
/// the innermost dim such that the dims from k on have a multiple of 8 bits. Then a packed tensor
/// [n0,…,nk,…] is a tensor of bytes [n0,…,n(k-1), bits(nk·…)/8], and a box of it is a box of bytes
/// if its cuts are between bytes. Code that moves, compares or sums bytes uses units. Names, rules
/// and file headers use elements.

#include <cstdint>

#include "ptc/base/result.h"
#include "ptc/box.h"
#include "ptc/dtype.h"

namespace tessera::ptc {

/// The number of bytes of a tensor.
/// \error kInvalidArgument if the elements or the bytes overflow int64, or if the last byte is not
///     full
Result<std::int64_t> ByteCount(DType dtype, const Shape& shape);
/// The shape in units.
/// \error as ByteCount
Result<Shape> UnitShape(DType dtype, const Shape& shape);
/// A box in units.
/// \pre `box` is inside `shape`
/// \error as UnitShape; kInvalidArgument naming the dim and the cut if a cut is inside a byte
Result<Box> UnitBox(DType dtype, const Shape& shape, const Box& box);

}  // namespace tessera::ptc
