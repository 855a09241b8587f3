// SPDX-License-Identifier: Apache-2.0
#include "ptc/rules/rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ptc/rules/rules_files.h"

namespace tessera::ptc {
namespace {

bool IsOptimizerState(TensorRole role) {
  return role == TensorRole::kMaster || role == TensorRole::kExpAvg ||
         role == TensorRole::kExpAvgSq;
}

bool IsCutBy(const ShardRule& rule, Axis axis) {
  return rule.flat == axis || std::any_of(rule.dims.begin(), rule.dims.end(), [axis](auto& axes) {
           return std::find(axes.begin(), axes.end(), axis) != axes.end();
         });
}

class Applier {
 public:
  Applier(const NamedText& tensors, const NamedText& rules, TensorsFile listed,
          std::vector<CutRule> cuts, bool zero)
      : tensors_name_(tensors.name),
        rules_name_(rules.name),
        listed_(std::move(listed)),
        cuts_(std::move(cuts)),
        zero_(zero),
        fits_(cuts_.size(), false),
        used_(cuts_.size(), false) {}

  Result<CollectionPtr> Run() {
    TESSERA_RETURN_IF_ERROR(Index());
    std::vector<TensorSpec> specs;
    for (const ListedTensor& tensor : listed_.tensors) {
      TESSERA_TRY(TensorSpec spec, Cut(tensor));
      specs.push_back(std::move(spec));
    }
    TESSERA_RETURN_IF_ERROR(CheckUse());
    return Collection::Make(std::move(specs), listed_.num_layers);
  }

 private:
  Error AtTensor(const ListedTensor& tensor, std::string_view message) const {
    return InvalidArgument(fmt::format("{}:{}: {}", tensors_name_, tensor.line, message));
  }
  Error AtRule(const CutRule& rule, std::string_view message) const {
    return InvalidArgument(fmt::format("{}:{}: {}", rules_name_, rule.line, message));
  }

  Status Index() {
    for (const ListedTensor& tensor : listed_.tensors) {
      const auto [it, is_new] = by_name_.try_emplace(tensor.spec.name, &tensor);
      if (is_new) continue;
      return AtTensor(tensor, fmt::format("tensor '{}' is given twice, first at line {}",
                                          tensor.spec.name, it->second->line));
    }
    return OkStatus();
  }

  /// The name that patterns are matched with: optimizer state goes by its parameter's.
  std::string_view Subject(const TensorSpec& spec) const {
    if (!IsOptimizerState(spec.role)) return spec.name;
    const std::string suffix = fmt::format(".{}", ToString(spec.role));
    if (!std::string_view(spec.name).ends_with(suffix)) return spec.name;
    const auto it = by_name_.find(spec.name.substr(0, spec.name.size() - suffix.size()));
    const bool found = it != by_name_.end() && it->second->spec.role == TensorRole::kParam;
    return found ? std::string_view(it->first) : std::string_view(spec.name);
  }

  /// The tensor as the first rule that fits has it.
  Result<TensorSpec> Cut(const ListedTensor& tensor) {
    const std::string_view subject = Subject(tensor.spec);
    const CutRule* chosen = nullptr;
    NamePattern::Match match;
    for (std::size_t r = 0; r < cuts_.size(); ++r) {
      if (chosen != nullptr && fits_[r]) continue;
      const auto fit = cuts_[r].pattern.Fit(subject);
      if (!fit) continue;
      fits_[r] = true;
      if (chosen != nullptr) continue;
      used_[r] = true;
      chosen = &cuts_[r];
      match = *fit;
    }
    if (chosen == nullptr) {
      return AtTensor(tensor,
                      fmt::format("no rule of {} matches tensor '{}'", rules_name_, subject));
    }
    TensorSpec spec = tensor.spec;
    spec.rule = chosen->cut;
    if (zero_ && IsOptimizerState(spec.role) && !IsCutBy(spec.rule, Axis::kDp)) {
      spec.rule.flat = Axis::kDp;
    }
    TESSERA_RETURN_IF_ERROR(Place(tensor, *chosen, match.layer, spec));
    // Alone first: what is wrong with it is then said with its line.
    if (auto alone = Collection::Make({spec}, listed_.num_layers); !alone) {
      return AtTensor(tensor, fmt::format("{} (by the rule at {}:{})", alone.error().ToString(),
                                          rules_name_, chosen->line));
    }
    return spec;
  }

  Status Place(const ListedTensor& tensor, const CutRule& rule, std::optional<std::int64_t> matched,
               TensorSpec& spec) const {
    const std::optional<std::int64_t> layer = tensor.layer ? tensor.layer : matched;
    if (matched && *matched != *layer) {
      return AtRule(
          rule, fmt::format("'{}' finds layer {} in tensor '{}', {}:{} says layer {}", rule.match,
                            *matched, spec.name, tensors_name_, tensor.line, *layer));
    }
    spec.place = rule.stage.value_or(layer ? StagePlace::kLayer : StagePlace::kAll);
    if (spec.place != StagePlace::kLayer) return OkStatus();
    if (!layer) {
      return AtRule(rule, fmt::format("stage 'layer', but neither '{}' nor {}:{} says the layer of "
                                      "tensor '{}'",
                                      rule.match, tensors_name_, tensor.line, spec.name));
    }
    spec.layer = *layer;
    return OkStatus();
  }

  Status CheckUse() const {
    for (std::size_t r = 0; r < cuts_.size(); ++r) {
      if (used_[r]) continue;
      const std::string_view match = cuts_[r].match;
      return AtRule(cuts_[r],
                    fits_[r] ? fmt::format("'{}' matches only tensors of rules before it", match)
                             : fmt::format("'{}' matches no tensor of {}", match, tensors_name_));
    }
    return OkStatus();
  }

  const std::string& tensors_name_;
  const std::string& rules_name_;
  const TensorsFile listed_;
  const std::vector<CutRule> cuts_;
  const bool zero_;
  std::map<std::string, const ListedTensor*> by_name_;
  std::vector<bool> fits_, used_;  // by rule: some tensor; as the first
};

}  // namespace

Result<CollectionPtr> ApplyRules(const NamedText& tensors, const NamedText& rules, bool zero) {
  TESSERA_TRY(TensorsFile listed, ReadTensors(tensors));
  TESSERA_TRY(std::vector<CutRule> cuts, ReadRules(rules));
  return Applier(tensors, rules, std::move(listed), std::move(cuts), zero).Run();
}

}  // namespace tessera::ptc
