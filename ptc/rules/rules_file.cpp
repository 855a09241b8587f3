// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "ptc/rules/json_text.h"
#include "ptc/rules/rules_files.h"

namespace tessera::ptc {
namespace {

struct NamedCut {
  std::string_view name;
  ShardRule rule;
};

/// The vocabulary of the field, for weights of shape [out, in] and their biases.
const std::array<NamedCut, 4>& NamedCuts() {
  static const std::array<NamedCut, 4> cuts = {
      NamedCut{"colwise", {.dims = {{Axis::kTp}}}},
      NamedCut{"rowwise", {.dims = {{}, {Axis::kTp}}}},
      NamedCut{"vocab", {.dims = {{Axis::kTp}}, .split = Split::kCeil}},
      NamedCut{"replicate", {.dims = {}}}};
  return cuts;
}

Result<Axis> ReadAxis(const ObjectReader& reader, const JsonValue& value) {
  const auto axis = ParseAxis(value.text);
  if (axis) return *axis;
  return reader.At(
      value, fmt::format("expected one of the axes pp, dp, ep, cp, tp, not {}", Describe(value)));
}

Result<ShardRule> ReadExplicitCut(const NamedText& file, const JsonValue& value) {
  TESSERA_TRY(const auto reader,
              ObjectReader::Make(file, value, "a cut", {"dims", "split", "flat"}));
  ShardRule rule;
  TESSERA_TRY(const auto* dims, reader.List("dims"));
  for (const JsonValue& dim : *dims) {
    if (dim.kind != JsonValue::Kind::kList) {
      return reader.At(dim,
                       fmt::format("expected a list of axes for each dim, not {}", Describe(dim)));
    }
    std::vector<Axis>& axes = rule.dims.emplace_back();
    for (const JsonValue& name : dim.items) {
      TESSERA_TRY(const Axis axis, ReadAxis(reader, name));
      axes.push_back(axis);
    }
  }
  if (const JsonValue* split = reader.Find("split")) {
    const auto known = ParseSplit(split->text);
    if (!known) return reader.Expected(*split, "even or ceil");
    rule.split = *known;
  }
  if (const JsonValue* flat = reader.Find("flat")) {
    TESSERA_TRY(rule.flat, ReadAxis(reader, *flat));
  }
  return rule;
}

Result<ShardRule> ReadCut(const NamedText& file, const ObjectReader& reader) {
  TESSERA_TRY(const JsonValue* value, reader.Member("cut"));
  if (value->kind == JsonValue::Kind::kObject) return ReadExplicitCut(file, *value);
  const auto& cuts = NamedCuts();
  const auto known = std::find_if(cuts.begin(), cuts.end(),
                                  [value](const NamedCut& cut) { return cut.name == value->text; });
  if (known == cuts.end()) {
    return reader.Expected(*value, "colwise, rowwise, vocab, replicate or an object with dims");
  }
  return known->rule;
}

Result<CutRule> ReadRule(const NamedText& file, const JsonValue& value) {
  TESSERA_TRY(const auto reader,
              ObjectReader::Make(file, value, "a rule", {"match", "cut", "stage"}));
  TESSERA_TRY(std::string match, reader.Text("match"));
  auto pattern = NamePattern::Parse(match);
  if (!pattern) return reader.At(*reader.Find("match"), pattern.error().message);
  TESSERA_TRY(ShardRule cut, ReadCut(file, reader));
  std::optional<StagePlace> stage;
  if (const JsonValue* place = reader.Find("stage")) {
    const auto known = ParseStagePlace(place->text);
    if (!known) {
      return reader.Expected(*place, "layer, first, last, first_and_last or all");
    }
    stage = *known;
  }
  return CutRule{std::move(match), std::move(*pattern), std::move(cut), stage, value.line};
}

}  // namespace

Result<std::vector<CutRule>> ReadRules(const NamedText& file) {
  TESSERA_TRY(const JsonValue root, ParseJsonText(file));
  TESSERA_TRY(const auto reader, ObjectReader::Make(file, root, "the rules file", {"rules"}));
  TESSERA_TRY(const auto* list, reader.List("rules"));
  std::vector<CutRule> rules;
  for (const JsonValue& item : *list) {
    TESSERA_TRY(CutRule rule, ReadRule(file, item));
    rules.push_back(std::move(rule));
  }
  return rules;
}

}  // namespace tessera::ptc
