// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Makes collections from two files that a user writes (ptc/FORMAT.md). The tensors file lists the
/// tensors of a job. The rules file gives patterns on their names, and for each pattern how its
/// tensors are cut and on which stages they are.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ptc/base/json_reader.h"
#include "ptc/base/result.h"
#include "ptc/stages.h"
#include "ptc/tensor_spec.h"

namespace tessera::ptc {

using tessera::NamedText;

/// Tensors with their rules, and the distribution of their layers over stages.
struct RuledTensors {
  CollectionPtr tensors;
  StageRule stages;
};
/// Which optimizer state goes with the parameters of a tensors file.
enum class OptimizerState : std::uint8_t {
  kAsFile,  // as the members "optimizer" and "masters" of the file specify
  kNone,
  kAdamW,  // two moments in f32, and a master in f32 for each parameter of another dtype
};
std::string_view ToString(OptimizerState state);  // "as the file says", "none", "adamw"
/// \error kInvalidArgument naming the text if it is neither "none" nor "adamw"
Result<OptimizerState> ParseOptimizerState(std::string_view text);

/// Reads both files and gives each tensor the first rule whose pattern matches its name.
/// - The optimizer state of a parameter (NAME.master, NAME.exp_avg and NAME.exp_avg_sq with those
///   roles) is matched by the name of the parameter.
/// - A rule that names no layer does not take tensors out of one (rule_matcher.h).
/// - A block scale of a quantised weight that no rule matches, or the same rule as its weight, is
///   cut like the weight, in blocks (ptc/scales.h).
/// - A tied tensor gets the rule of its first name that has one. It is on the stages of all names.
/// - With `zero`, tensors of the roles master, exp_avg and exp_avg_sq are also cut flat over dp,
///   unless their rule cuts them over dp already.
/// \error kInvalidArgument `FILE:LINE: …` if a file is malformed, if no rule matches a tensor, if a
///     rule that is not optional matches no tensor, and as Collection::Make
Result<RuledTensors> ApplyRules(const NamedText& tensors, const NamedText& rules, bool zero,
                                OptimizerState state = OptimizerState::kAsFile);

/// Each tensor with the rule that matched it, and each rule with the number of its tensors.
struct RulesReport {
  struct Tensor {
    TensorSpec spec;                  // cut by its rule if it has one
    std::string pattern = {};         // the name as written, with {layer} and {expert}
    int line = 0;                     // in the tensors file
    std::optional<std::size_t> rule;  // position in `rules`; empty: no rule matches
    std::string problem = {};         // `FILE:LINE: …`; empty: none
  };
  struct Rule {
    std::string match;  // as written
    int line = 0;
    bool optional = false;
    std::size_t tensors = 0;  // those that it cuts, or whose stages it helps to choose
    std::string problem = {};
  };
  std::vector<Tensor> tensors;  // in the order of the file; optimizer state follows its parameter
  std::vector<Rule> rules;      // in the order of the file
  StageRule stages;
  std::int64_t num_layers = 0;
  /// How many patterns were matched with names: what the check costs.
  std::int64_t num_matched = 0;
  /// Whether no tensor and no rule has a problem. ApplyRules may still fail for a reason that
  /// concerns several tensors.
  bool ok() const;
};
/// As ApplyRules, but records the problems of tensors and rules instead of stopping at the first.
/// \error kInvalidArgument `FILE:LINE: …` if a file is malformed
Result<RulesReport> CheckRules(const NamedText& tensors, const NamedText& rules, bool zero,
                               OptimizerState state = OptimizerState::kAsFile);

}  // namespace tessera::ptc
