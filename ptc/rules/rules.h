// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Collections from files that a user writes: one lists the tensors of a job, the other says by
/// patterns on their names how each is cut and on which stages it lives. ptc/FORMAT.md has both.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ptc/base/result.h"
#include "ptc/stages.h"
#include "ptc/tensor_spec.h"

namespace tessera::ptc {

/// The contents of a file and what to call it in messages.
struct NamedText {
  std::string name;
  std::string text;
  friend bool operator==(const NamedText&, const NamedText&) = default;
};

/// Tensors under their rules, and how their layers are dealt to stages.
struct RuledTensors {
  CollectionPtr tensors;
  StageRule stages;
};
/// Which optimizer state goes with the parameters of a tensors file.
enum class OptimizerState : std::uint8_t {
  kAsFile,  // as its "optimizer" and "masters" say
  kNone,
  kAdamW,  // two moments in f32, and a master in f32 of each parameter that is not
};
std::string_view ToString(OptimizerState state);  // "as the file says", "none", "adamw"
/// \error kInvalidArgument naming the text: neither none nor adamw
Result<OptimizerState> ParseOptimizerState(std::string_view text);

/// Reads both and gives every tensor the first rule whose pattern matches its name; optimizer state
/// of a parameter (NAME.master, NAME.exp_avg, NAME.exp_avg_sq, by role) goes by the parameter's
/// name. A tied tensor gets the rule of its first name that has one, and lives on the stages of all
/// its names. With `zero` tensors of the roles master, exp_avg and exp_avg_sq are also cut flat
/// over dp, unless their rule cuts them over dp already. \error kInvalidArgument `FILE:LINE: …`
/// with what was expected; a tensor that no rule matches, a rule that matches no tensor and is not
/// optional,
///     and what Collection::Make refuses
Result<RuledTensors> ApplyRules(const NamedText& tensors, const NamedText& rules, bool zero,
                                OptimizerState state = OptimizerState::kAsFile);

/// Each tensor with the rule that matched it, and each rule with what it did.
struct RulesReport {
  struct Tensor {
    TensorSpec spec;                  // cut by its rule where it has one
    std::string pattern = {};         // its name as the file has it, with {layer} and {expert}
    int line = 0;                     // of the tensors file
    std::optional<std::size_t> rule;  // position in `rules`; empty: no rule matches
    std::string problem = {};         // `FILE:LINE: …`; empty: none
  };
  struct Rule {
    std::string match;  // as written
    int line = 0;
    bool optional = false;
    std::size_t tensors = 0;  // that it cuts, or has a part in placing
    std::string problem = {};
  };
  std::vector<Tensor> tensors;  // in the order of the file, optimizer state behind its parameter
  std::vector<Rule> rules;      // in the order of the file
  StageRule stages;
  std::int64_t num_layers = 0;
  /// Whether ApplyRules gives a collection, but for what only all tensors together can do wrong.
  bool ok() const;
};
/// As ApplyRules, but goes on behind what a tensor or a rule does wrong.
/// \error kInvalidArgument `FILE:LINE: …` where a file cannot be read
Result<RulesReport> CheckRules(const NamedText& tensors, const NamedText& rules, bool zero,
                               OptimizerState state = OptimizerState::kAsFile);

}  // namespace tessera::ptc
