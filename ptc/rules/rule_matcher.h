// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Decides which rules of a rules file match a tensor's name. A wildcard never takes a tensor out
/// of its layer: `**norm.weight` with stage "last" does not match `model.layers.3.q_norm.weight`.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ptc/rules/rule_index.h"
#include "ptc/rules/rules_files.h"

namespace tessera::ptc {

/// Matches names with the rules of one file. The words before {layer} in its patterns, and
/// "layers", name layers: a name with `layers.3.` belongs to layer 3. A rule that does not name a
/// layer itself and assigns its tensors to the first or last stage does not match such a name.
class RuleMatcher {
 public:
  /// \pre `rules` outlives this
  explicit RuleMatcher(const std::vector<CutRule>& rules);

  struct Fit {
    NamePattern::Match match;
    /// The layer that the name belongs to, if {layer} of the pattern did not match one.
    std::optional<std::int64_t> layer_of_name = {};
    std::optional<std::int64_t> layer() const { return match.layer ? match.layer : layer_of_name; }
  };
  /// The rules that may match the name, ascending; Match is nullopt for all others.
  std::vector<std::size_t> Candidates(std::string_view name) const {
    return index_.Candidates(name);
  }
  std::optional<Fit> Match(std::size_t rule, std::string_view name) const;
  /// Returns the number of the layer if the rule's pattern fits the name, but the rule would take
  /// the tensor out of that layer. Match then returns nullopt.
  std::optional<std::int64_t> TornLayer(std::size_t rule, std::string_view name) const;
  /// The number after the leftmost of the words in the name.
  std::optional<std::int64_t> LayerOf(std::string_view name) const;

 private:
  const std::vector<CutRule>& rules_;
  const RuleIndex index_;
  std::vector<std::string> words_;   // "layers.", "h.": up to the number
  std::vector<bool> leaves_layers_;  // by rule: names no layer, and is for the first or last stage
};

}  // namespace tessera::ptc
