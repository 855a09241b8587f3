// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// What the two files of rules.h say, before one is applied to the other.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ptc/rules/name_pattern.h"
#include "ptc/rules/numbers.h"
#include "ptc/rules/rule_cut.h"
#include "ptc/rules/rules.h"
#include "ptc/stages.h"
#include "ptc/tensor_spec.h"

namespace tessera::ptc {

/// Layers begin..end-1.
struct LayerRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};
struct ListedTensor {
  TensorSpec spec;                    // place, layer and rule are open
  std::optional<std::int64_t> layer;  // where the file says it
  std::string pattern;                // the name as the file has it
  LayerRange layers;                  // that {layer} of the pattern stands for
  int line = 0;
};
struct TensorsFile {
  // For people: what it lists, where the figures come from, the rule set that goes with it.
  std::string title = {};
  std::string source = {};
  std::string rules = {};
  std::int64_t num_layers = 0;
  Values values;
  /// In the order of the file, optimizer state that it asks for behind each parameter.
  std::vector<ListedTensor> tensors;
};
/// \error kInvalidArgument `FILE:LINE: …`
Result<TensorsFile> ReadTensors(const NamedText& file,
                                OptimizerState state = OptimizerState::kAsFile);

struct CutRule {
  std::string match;  // as written
  NamePattern pattern;
  RuleCut cut;
  std::optional<StagePlace> stage;
  bool optional = false;  // may match no tensor
  int line = 0;
};
struct RulesFile {
  StageRule stages;
  std::vector<CutRule> rules;
};
/// \error kInvalidArgument `FILE:LINE: …`
Result<RulesFile> ReadRules(const NamedText& file, const Values& values);

}  // namespace tessera::ptc
