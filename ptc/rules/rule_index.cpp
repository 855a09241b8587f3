// SPDX-License-Identifier: Apache-2.0
#include "ptc/rules/rule_index.h"

#include <algorithm>

namespace tessera::ptc {
namespace {

/// Calls `each` for every part between dots that is not empty.
template <typename Each>
void ForEachDotted(std::string_view text, const Each& each) {
  while (true) {
    const std::size_t end = text.find('.');
    if (const std::string_view part = text.substr(0, end); !part.empty()) each(part);
    if (end == std::string_view::npos) return;
    text.remove_prefix(end + 1);
  }
}

bool IsLiteral(std::string_view part) {
  return part.find_first_of("*{}") == std::string_view::npos;
}

}  // namespace

RuleIndex::RuleIndex(const std::vector<CutRule>& rules) {
  std::map<std::string_view, std::size_t> counts;
  for (const CutRule& rule : rules) {
    ForEachDotted(rule.match, [&](std::string_view part) {
      if (IsLiteral(part)) ++counts[part];
    });
  }
  for (std::size_t r = 0; r < rules.size(); ++r) {
    std::string_view rarest;
    ForEachDotted(rules[r].match, [&](std::string_view part) {
      if (!IsLiteral(part)) return;
      if (rarest.empty() || counts.at(part) < counts.at(rarest)) rarest = part;
    });
    (rarest.empty() ? others_ : by_part_[std::string(rarest)]).push_back(r);
  }
}

std::vector<std::size_t> RuleIndex::Candidates(std::string_view name) const {
  std::vector<std::size_t> rules = others_;
  ForEachDotted(name, [&](std::string_view part) {
    const auto found = by_part_.find(part);
    if (found != by_part_.end()) {
      rules.insert(rules.end(), found->second.begin(), found->second.end());
    }
  });
  std::ranges::sort(rules);
  const auto twice = std::ranges::unique(rules);  // a name may have a part twice
  rules.erase(twice.begin(), twice.end());
  return rules;
}

}  // namespace tessera::ptc
