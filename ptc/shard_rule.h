// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Whether the rule of a tensor fits it, and the one spelling that each rule has.

#include "ptc/base/result.h"
#include "ptc/tensor_spec.h"

namespace tessera::ptc {

/// \error kInvalidArgument for a rule, segments or a bucket that no mesh could make sense of.
/// \pre NumElements(spec.shape) is a value
Status CheckRule(const TensorSpec& spec);
/// Rules of equal meaning become equal: one DimCut a dim, the default where a dim is not cut, no
/// cut of its own where a segment goes by its dim. \pre CheckRule(spec)
void Normalize(TensorSpec& spec);

}  // namespace tessera::ptc
