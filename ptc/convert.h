// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Converts elements between floating-point types. A value is rounded once, to the nearest, ties to
/// even (IEEE 754-2008, section 4.3.1), as in PyTorch.
///
/// A value that rounds beyond the largest finite value becomes infinity. f8e4m3 has no infinity (it
/// is the "fn" format of Micikevicius et al., "FP8 Formats for Deep Learning", 2022, section 3);
/// such a value becomes NaN there. A NaN stays a NaN, quiet and with its sign. Subnormals are
/// rounded like other values and never flushed to zero.

#include <cstddef>
#include <cstdint>

#include "ptc/dtype.h"

namespace tessera::ptc {

/// Whether Convert knows the type: f8e4m3, f8e5m2, f16, bf16, f32 or f64.
bool IsFloat(DType dtype);

/// Converts `count` elements from `source` to `target`. Equal types are copied bit by bit. Memory
/// need not be aligned.
/// \pre from == to, or both are IsFloat; the ranges do not overlap
void Convert(DType from, const std::byte* source, DType to, std::byte* target, std::int64_t count);

}  // namespace tessera::ptc
