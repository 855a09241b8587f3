// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The member `cut` of a rule: a word of the field or an object (FORMAT.md).

#include <cstdint>
#include <optional>
#include <vector>

#include "ptc/base/result.h"
#include "ptc/rules/json_text.h"
#include "ptc/rules/numbers.h"
#include "ptc/tensor_spec.h"

namespace tessera::ptc {

/// Segments as a rule has them: it may leave the sizes to the tensor, or the cuts to the dim.
struct RuleSegments {
  int dim = 0;
  std::optional<std::vector<std::int64_t>> sizes;
  std::optional<std::vector<std::optional<DimCut>>> cuts;
};
struct RuleCut {
  ShardRule rule;
  std::optional<RuleSegments> segments;
};

/// Reads `cut` of a rule. \error kInvalidArgument `FILE:LINE: …`
Result<RuleCut> ReadCut(const NamedText& file, const ObjectReader& rule, const Values& values);

/// The tensor under the cut: its rule, and its segments as both say them.
/// \error kInvalidArgument without a place, where they contradict each other
Status Apply(const RuleCut& cut, TensorSpec& spec);

}  // namespace tessera::ptc
