// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The contents of the two files of rules.h, before the rules are applied to the tensors.

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

/// The layers [begin, end).
struct LayerRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};
struct ListedTensor {
  TensorSpec spec;                    // without place, layer and rule: they follow from the rules
  std::optional<std::int64_t> layer;  // if the file gives it
  std::string pattern;                // the name as written in the file
  LayerRange layers;                  // the values of {layer} in the pattern
  int line = 0;
};
struct TensorsFile {
  // For people: the title of the list, the source of the figures, and the name of the rule set that
  // goes with it.
  std::string title = {};
  std::string source = {};
  std::string rules = {};
  std::int64_t num_layers = 0;
  Values values;
  /// In the order of the file. The optimizer state of a parameter follows the parameter.
  std::vector<ListedTensor> tensors;
};
/// \error kInvalidArgument `FILE:LINE: …`
Result<TensorsFile> ReadTensors(const NamedText& file,
                                OptimizerState state = OptimizerState::kAsFile);

/// The name of the rule set that the tensors file states; empty: none. Reads no tensor.
/// \error kInvalidArgument `FILE:LINE: …`
Result<std::string> ReadRuleSetName(const NamedText& file);

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
