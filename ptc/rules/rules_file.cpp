// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <utility>

#include "ptc/base/json_reader.h"
#include "ptc/rules/rules_files.h"

namespace tessera::ptc {
namespace {

Result<CutRule> ReadRule(const NamedText& file, const JsonValue& value, const Values& values) {
  TESSERA_TRY(const auto reader,
              JsonReader::Make(file, value, "a rule", {"match", "cut", "stage", "optional"}));
  TESSERA_TRY(std::string match, reader.Text("match"));
  auto pattern = NamePattern::Parse(match);
  if (!pattern) return reader.At(*reader.Find("match"), pattern.error().message);
  TESSERA_TRY(RuleCut cut, ReadCut(file, reader, values));
  std::optional<StagePlace> stage;
  if (const JsonValue* place = reader.Find("stage")) {
    const auto known = ParseStagePlace(place->text);
    if (!known) {
      return reader.Expected(*place, "layer, first, last, first_and_last or all");
    }
    stage = *known;
  }
  bool optional = false;
  TESSERA_RETURN_IF_ERROR(reader.Optional("optional", optional));
  return CutRule{std::move(match), std::move(*pattern), std::move(cut), stage,
                 optional,         value.line};
}

}  // namespace

Result<RulesFile> ReadRules(const NamedText& file, const Values& values) {
  TESSERA_TRY(const JsonValue root, ParseJson(file));
  TESSERA_TRY(const auto reader,
              JsonReader::Make(file, root, "the rules file", {"stages", "rules"}));
  RulesFile out;
  if (const JsonValue* stages = reader.Find("stages")) {
    const auto known = ParseStageRule(stages->text);
    if (!known) {
      return reader.Expected(*stages,
                             "uniform, uniform*N, balanced or a stage for each layer (0,0,1,1)");
    }
    out.stages = *known;
  }
  TESSERA_TRY(const auto* list, reader.List("rules"));
  for (const JsonValue& item : *list) {
    TESSERA_TRY(CutRule rule, ReadRule(file, item, values));
    out.rules.push_back(std::move(rule));
  }
  return out;
}

}  // namespace tessera::ptc
