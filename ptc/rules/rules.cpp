// SPDX-License-Identifier: Apache-2.0
#include "ptc/rules/rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ptc/rules/rule_matcher.h"
#include "ptc/rules/rules_files.h"
#include "ptc/scales.h"

namespace tessera::ptc {
namespace {

bool IsOptimizerState(TensorRole role) {
  return role == TensorRole::kMaster || role == TensorRole::kExpAvg ||
         role == TensorRole::kExpAvgSq;
}

bool IsCutBy(const TensorSpec& spec, Axis axis) {
  const auto names = [axis](const DimCut& cut) { return std::ranges::count(cut.axes, axis) > 0; };
  if (std::ranges::count(spec.rule.flat, axis) > 0) return true;
  if (std::ranges::any_of(spec.rule.dims, names)) return true;
  return spec.segments && std::ranges::any_of(spec.segments->blocks, [&](const Segment& segment) {
           return segment.cut && names(*segment.cut);
         });
}

std::string Filled(std::string text, std::string_view mark, std::optional<std::int64_t> number) {
  const std::size_t at = text.find(mark);
  if (at == std::string::npos || !number) return text;
  return text.replace(at, mark.size(), fmt::format("{}", *number));
}

class Applier {
 public:
  Applier(const NamedText& tensors, const NamedText& rules, TensorsFile listed, RulesFile cuts,
          bool zero)
      : tensors_name_(tensors.name),
        rules_name_(rules.name),
        listed_(std::move(listed)),
        cuts_(std::move(cuts.rules)),
        matcher_(cuts_),
        zero_(zero),
        fits_(cuts_.size(), false) {
    report_.stages = std::move(cuts.stages);
    report_.num_layers = listed_.num_layers;
    for (const CutRule& cut : cuts_) {
      report_.rules.push_back({cut.match, cut.line, cut.optional});
    }
  }

  RulesReport Run() && {
    for (const ListedTensor& tensor : listed_.tensors) {
      by_name_.try_emplace(tensor.spec.name, &tensor);
    }
    for (const ListedTensor& tensor : listed_.tensors) {
      report_.tensors.push_back({tensor.spec, tensor.pattern, tensor.line, std::nullopt});
      RulesReport::Tensor& entry = report_.tensors.back();
      if (const Status status = Cut(tensor, entry); !status) {
        entry.problem = status.error().ToString();
      }
    }
    CheckUse();
    return std::move(report_);
  }

 private:
  Error AtTensor(const ListedTensor& tensor, std::string_view message) const {
    return InvalidArgument(fmt::format("{}:{}: {}", tensors_name_, tensor.line, message));
  }
  Error AtRule(const CutRule& rule, std::string_view message) const {
    return InvalidArgument(fmt::format("{}:{}: {}", rules_name_, rule.line, message));
  }

  /// The names that patterns are matched with, the tensor's own first. Optimizer state is matched
  /// by the names of its parameter.
  std::vector<std::string_view> Subjects(const TensorSpec& spec) const {
    std::vector<std::string_view> names = {spec.name};
    names.insert(names.end(), spec.aliases.begin(), spec.aliases.end());
    if (!IsOptimizerState(spec.role)) return names;
    const std::string suffix = fmt::format(".{}", ToString(spec.role));
    const auto base = [&](std::string_view name) {
      return name.ends_with(suffix) ? name.substr(0, name.size() - suffix.size()) : name;
    };
    const auto it = by_name_.find(base(spec.name));
    if (it == by_name_.end() || it->second->spec.role != TensorRole::kParam) return names;
    std::ranges::transform(names, names.begin(), base);
    return names;
  }

  struct Chosen {
    const CutRule* rule;
    RuleMatcher::Fit fit;
  };
  std::optional<Chosen> FirstRule(std::string_view name) {
    for (const std::size_t r : matcher_.Candidates(name)) {
      ++report_.num_matched;
      if (const auto fit = matcher_.Match(r, name)) return Chosen{&cuts_[r], *fit};
    }
    return std::nullopt;
  }
  /// As FirstRule. Counts the tensor for that rule, and marks in fits_ all rules that match.
  std::optional<Chosen> Choose(std::string_view name) {
    std::optional<Chosen> chosen;
    for (const std::size_t r : matcher_.Candidates(name)) {
      if (chosen && fits_[r]) continue;
      ++report_.num_matched;
      const auto fit = matcher_.Match(r, name);
      if (!fit) continue;
      fits_[r] = true;
      if (chosen) continue;
      ++report_.rules[r].tensors;
      chosen = {&cuts_[r], *fit};
    }
    return chosen;
  }

  /// The weight that the tensor is a scale of, and BlocksOfScale.
  struct Scaled {
    const ListedTensor* weight;
    std::vector<ScaleDim> blocks;
  };
  std::optional<Scaled> ScaledBy(const TensorSpec& spec) const {
    for (const std::string& name : WeightsOfScale(spec.name)) {
      const auto at = by_name_.find(name);
      if (at == by_name_.end()) continue;
      auto blocks = BlocksOfScale(at->second->spec.shape, spec.shape);
      if (blocks) return Scaled{at->second, *std::move(blocks)};
    }
    return std::nullopt;
  }

  Error NoRule(const ListedTensor& tensor, std::string_view name) const {
    std::string message = fmt::format("no rule of {} matches tensor '{}'", rules_name_, name);
    for (const std::size_t r : matcher_.Candidates(name)) {
      const auto layer = matcher_.TornLayer(r, name);
      if (!layer) continue;
      message += fmt::format(
          ": it belongs to layer {}, and '{}' at line {} puts tensors on stage '{}' without naming "
          "a "
          "layer; add a rule with {{layer}}",
          *layer, cuts_[r].match, cuts_[r].line, ToString(*cuts_[r].stage));
      break;
    }
    return AtTensor(tensor, message);
  }

  /// Cuts and places the tensor by the first rule that matches.
  Status Cut(const ListedTensor& tensor, RulesReport::Tensor& entry) {
    if (const ListedTensor* first = by_name_.at(tensor.spec.name); first != &tensor) {
      return AtTensor(tensor, fmt::format("tensor '{}' is given twice, first at line {}",
                                          tensor.spec.name, first->line));
    }
    const std::vector<std::string_view> names = Subjects(tensor.spec);
    std::vector<Chosen> rules;
    for (std::string_view name : names) {
      if (const auto rule = Choose(name)) rules.push_back(*rule);
    }
    // A scale is cut like its weight unless it has a rule of its own.
    const auto scaled = ScaledBy(tensor.spec);
    std::optional<Chosen> of_weight;
    if (scaled) of_weight = FirstRule(scaled->weight->spec.name);
    if (rules.empty() && of_weight) {
      rules.push_back(*of_weight);
      ++report_.rules[static_cast<std::size_t>(of_weight->rule - cuts_.data())].tensors;
    }
    if (rules.empty()) return NoRule(tensor, names.front());
    const Chosen& first = rules.front();
    const CutRule* chosen = first.rule;
    const NamePattern::Match& match = first.fit.match;
    entry.rule = static_cast<std::size_t>(chosen - cuts_.data());
    TensorSpec& spec = entry.spec;
    TESSERA_RETURN_IF_ERROR(Deal(tensor, *chosen, match.expert, spec));
    TESSERA_RETURN_IF_ERROR(SetStage(tensor, rules, spec));
    const bool in_blocks = of_weight && of_weight->rule == chosen;
    if (in_blocks && !spec.segments) spec.segments = scaled->weight->spec.segments;
    Status status = Apply(chosen->cut, spec);
    if (status && in_blocks) {
      status = CutByBlocks(scaled->weight->spec.shape, scaled->blocks, spec);
    }
    if (!status) status = std::move(status).Context(fmt::format("tensor '{}'", spec.name));
    if (status) {
      Flatten(match, spec);
      // Errors of this tensor are found here, where its line is known.
      status = Collection::Normalize(spec, listed_.num_layers);
      if (status) return OkStatus();
    }
    return AtTensor(tensor, fmt::format("{} (by the rule at {}:{})", status.error().ToString(),
                                        rules_name_, chosen->line));
  }

  /// Adds the flat cut of ZeRO and fills in the name of the bucket.
  void Flatten(const NamePattern::Match& match, TensorSpec& spec) const {
    const bool is_state = IsOptimizerState(spec.role);
    ShardRule& rule = spec.rule;
    if (zero_ && is_state && !IsCutBy(spec, Axis::kDp)) {
      rule.flat.insert(rule.flat.begin(), Axis::kDp);
    }
    if (rule.flat.empty()) rule.bucket.clear();
    if (rule.bucket.empty()) return;
    rule.bucket = Filled(Filled(rule.bucket, kLayerMark, match.layer), kExpertMark, match.expert);
    if (is_state) rule.bucket += fmt::format(".{}", ToString(spec.role));
  }

  /// Sets which expert the tensor is.
  Status Deal(const ListedTensor& tensor, const CutRule& rule, std::optional<std::int64_t> matched,
              TensorSpec& spec) const {
    if (!matched) return OkStatus();
    const auto finds = [&](std::string_view rest) {
      return AtRule(rule, fmt::format("'{}' matches expert {} in tensor '{}', {}", rule.match,
                                      *matched, spec.name, rest));
    };
    if (spec.expert) {
      if (spec.expert->index == *matched) return OkStatus();
      return finds(
          fmt::format("but {}:{} gives expert {}", tensors_name_, tensor.line, spec.expert->index));
    }
    const auto count = listed_.values.by_name.find("experts");
    if (count == listed_.values.by_name.end()) {
      return finds(fmt::format("but 'values' of {} has no 'experts'", tensors_name_));
    }
    if (*matched >= count->second) {
      return finds(fmt::format("but {} has {} experts", tensors_name_, count->second));
    }
    spec.expert = ExpertIndex{*matched, count->second};
    return OkStatus();
  }

  /// Sets the stages, which are those of all names of the tensor together.
  Status SetStage(const ListedTensor& tensor, const std::vector<Chosen>& rules,
                  TensorSpec& spec) const {
    TESSERA_RETURN_IF_ERROR(SetStageBy(tensor, rules.front(), spec));
    for (const Chosen& rule : std::span(rules).subspan(1)) {
      TensorSpec other = spec;
      TESSERA_RETURN_IF_ERROR(SetStageBy(tensor, rule, other));
      if (other.place == spec.place && other.layer == spec.layer) continue;
      if (other.place == StagePlace::kLayer || spec.place == StagePlace::kLayer) {
        return AtRule(
            *rule.rule,
            fmt::format("'{}' puts tied tensor '{}' on stage '{}', another rule on '{}'",
                        rule.rule->match, spec.name, ToString(other.place), ToString(spec.place)));
      }
      const bool all = other.place == StagePlace::kAll || spec.place == StagePlace::kAll;
      spec.place = all ? StagePlace::kAll : StagePlace::kFirstAndLast;
    }
    return OkStatus();
  }

  Status SetStageBy(const ListedTensor& tensor, const Chosen& chosen, TensorSpec& spec) const {
    const CutRule& rule = *chosen.rule;
    const std::optional<std::int64_t> matched = chosen.fit.match.layer;
    std::optional<std::int64_t> layer = tensor.layer ? tensor.layer : matched;
    const std::optional<std::int64_t> named = chosen.fit.layer_of_name;
    if (!layer && named < listed_.num_layers) layer = named;
    if (!layer && named && !rule.stage && listed_.num_layers > 0) {
      return AtTensor(tensor,
                      fmt::format("tensor '{}' belongs to layer {}, but 'layers' is {}; "
                                  "correct it, or give the rule at {}:{} a stage",
                                  spec.name, *named, listed_.num_layers, rules_name_, rule.line));
    }
    if (matched && *matched != *layer) {
      return AtRule(
          rule, fmt::format("'{}' matches layer {} in tensor '{}', but {}:{} gives layer {}",
                            rule.match, *matched, spec.name, tensors_name_, tensor.line, *layer));
    }
    spec.place = rule.stage.value_or(layer ? StagePlace::kLayer : StagePlace::kAll);
    if (spec.place != StagePlace::kLayer) return OkStatus();
    if (!layer) {
      return AtRule(rule,
                    fmt::format("stage is 'layer', but neither '{}' nor {}:{} gives the layer of "
                                "tensor '{}'",
                                rule.match, tensors_name_, tensor.line, spec.name));
    }
    spec.layer = *layer;
    return OkStatus();
  }

  void CheckUse() {
    for (std::size_t r = 0; r < cuts_.size(); ++r) {
      RulesReport::Rule& entry = report_.rules[r];
      if (entry.tensors > 0 || entry.optional) continue;
      const std::string_view match = cuts_[r].match;
      entry.problem =
          AtRule(cuts_[r], fits_[r]
                               ? fmt::format("'{}' matches only tensors of earlier rules", match)
                               : fmt::format("'{}' matches no tensor of {}", match, tensors_name_))
              .ToString();
    }
  }

  const std::string& tensors_name_;
  const std::string& rules_name_;
  const TensorsFile listed_;
  const std::vector<CutRule> cuts_;
  const RuleMatcher matcher_;
  const bool zero_;
  std::map<std::string, const ListedTensor*, std::less<>> by_name_;  // the first of each name
  std::vector<bool> fits_;                                           // by rule: some tensor
  RulesReport report_;
};

}  // namespace

bool RulesReport::ok() const {
  const auto is_fine = [](const auto& entry) { return entry.problem.empty(); };
  return std::ranges::all_of(tensors, is_fine) && std::ranges::all_of(rules, is_fine);
}

Result<RulesReport> CheckRules(const NamedText& tensors, const NamedText& rules, bool zero,
                               OptimizerState state) {
  TESSERA_TRY(TensorsFile listed, ReadTensors(tensors, state));
  TESSERA_TRY(RulesFile cuts, ReadRules(rules, listed.values));
  return Applier(tensors, rules, std::move(listed), std::move(cuts), zero).Run();
}

Result<RuledTensors> ApplyRules(const NamedText& tensors, const NamedText& rules, bool zero,
                                OptimizerState state) {
  TESSERA_TRY(RulesReport report, CheckRules(tensors, rules, zero, state));
  std::vector<TensorSpec> specs;
  for (RulesReport::Tensor& tensor : report.tensors) {
    if (!tensor.problem.empty()) return InvalidArgument(std::move(tensor.problem));
    specs.push_back(std::move(tensor.spec));
  }
  for (RulesReport::Rule& rule : report.rules) {
    if (!rule.problem.empty()) return InvalidArgument(std::move(rule.problem));
  }
  TESSERA_TRY(CollectionPtr collection, Collection::Make(std::move(specs), report.num_layers));
  return RuledTensors{std::move(collection), std::move(report.stages)};
}

}  // namespace tessera::ptc
