// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Checks the rule of a tensor and brings it to its normal form.

#include "ptc/base/result.h"
#include "ptc/tensor_spec.h"

namespace tessera::ptc {

/// \error kInvalidArgument if the rule, the segments or the bucket are invalid on every mesh
/// \pre NumElements(spec.shape) is a value
Status CheckRule(const TensorSpec& spec);
/// Makes rules of equal meaning equal. A rule has one DimCut per dim, which is the default if the
/// dim is not cut. A segment has no cut of its own if it equals that of its dim.
/// \pre CheckRule(spec)
void Normalize(TensorSpec& spec);

}  // namespace tessera::ptc
