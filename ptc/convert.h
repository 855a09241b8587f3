// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Elements of one floating-point type as another: rounded once, to the nearest, ties to even
/// (IEEE 754-2008, section 4.3.1), as PyTorch has it.
///
/// Past the largest value, after rounding: infinity, and in f8e4m3, which has none (the "fn" format
/// of Micikevicius et al., "FP8 Formats for Deep Learning", 2022, section 3), NaN. A NaN stays one,
/// quiet and of its sign. Subnormals are rounded like other values, never flushed.

#include <cstddef>
#include <cstdint>

#include "ptc/dtype.h"

namespace tessera::ptc {

/// f8e4m3, f8e5m2, f16, bf16, f32 and f64.
bool IsFloat(DType dtype);

/// Writes `count` elements of type `to` made of those of type `from`; equal types are copied bit by
/// bit. Memory need not be aligned. \pre from == to, or both are IsFloat; the ranges do not overlap
void Convert(DType from, const std::byte* source, DType to, std::byte* target, std::int64_t count);

}  // namespace tessera::ptc
