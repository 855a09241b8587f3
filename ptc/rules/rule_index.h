// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Finds the rules whose pattern may match a name without matching the name with every pattern.

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "ptc/rules/rules_files.h"

namespace tessera::ptc {

/// A part of a pattern between dots that has neither wildcard nor braces, such as `attn` of
/// `h.{layer}.attn.*`, is a part of every name that the pattern matches. Each rule is listed under
/// the one of these parts that the fewest rules have. A name is looked up by its own parts.
class RuleIndex {
 public:
  explicit RuleIndex(const std::vector<CutRule>& rules);

  /// The rules that may match `name`, ascending. All other rules do not.
  std::vector<std::size_t> Candidates(std::string_view name) const;

 private:
  std::map<std::string, std::vector<std::size_t>, std::less<>> by_part_;
  std::vector<std::size_t> others_;  // rules without such a part
};

}  // namespace tessera::ptc
