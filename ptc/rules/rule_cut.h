// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The member `cut` of a rule: a word such as "colwise", or an object (FORMAT.md).

#include <cstdint>
#include <optional>
#include <vector>

#include "ptc/base/json_reader.h"
#include "ptc/rules/numbers.h"
#include "ptc/tensor_spec.h"

namespace tessera::ptc {

/// The segments that a rule gives. Without `sizes` the tensor gives them; without `cuts` the dim's
/// cut holds for each.
struct RuleSegments {
  int dim = 0;
  std::optional<std::vector<std::int64_t>> sizes;
  std::optional<std::vector<std::optional<DimCut>>> cuts;
};
struct RuleCut {
  ShardRule rule;
  std::optional<RuleSegments> segments;
};

/// Reads the member `cut` of a rule.
/// \error kInvalidArgument `FILE:LINE: …`
Result<RuleCut> ReadCut(const NamedText& file, const JsonReader& rule, const Values& values);

/// Sets the rule of `spec`, and its segments from both the cut and the tensor.
/// \error kInvalidArgument, without a file and a line, if the segments of the two differ
Status Apply(const RuleCut& cut, TensorSpec& spec);

}  // namespace tessera::ptc
