// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/commands/model_source.h"

#include <fmt/format.h>

#include <utility>

#include "engine/catalogue/catalogue.h"
#include "engine/files/whole_file.h"

namespace tessera::app {

Result<ptc::NamedText> readTextFile(const std::string& path) {
  TESSERA_TRY(auto text, engine::ReadWholeFile(path));
  return ptc::NamedText{path, std::move(text)};
}

Result<ptc::NamedText> readRules(const std::string& nameOrFile) {
  if (nameOrFile.find('/') != std::string::npos || nameOrFile.ends_with(".json"))
    return readTextFile(nameOrFile);
  return engine::FindRuleSet(nameOrFile);
}

std::vector<OptionSpec> modelOptions(const std::string& optimizer) {
  return {{"model", "M", "a model of the catalogue, see `models list`"},
          {"tensors", "FILE", "a table of tensors instead, as `job start --exec` takes it"},
          {"optimizer", "adamw|none", "state beside the parameters (default " + optimizer + ")"},
          zeroOption()};
}

OptionSpec zeroOption() {
  return {"zero", "on|off", "cuts the optimizer's state over the dp ranks (ZeRO-1; default off)"};
}

Result<bool> readZero(const Arguments& arguments) {
  const std::string text = arguments.valueOr("zero", "off");
  if (text == "on" || text == "1") return true;  // 1: the stage of ZeRO
  if (text == "off" || text == "0") return false;
  return InvalidArgument(fmt::format("--zero '{}' is neither on nor off", text));
}

OptionSpec rulesOption() {
  return {"rules", "NAME|FILE", "how tensors are cut, see `rules list` (default: the model's)"};
}

Result<ModelSource> readModelSource(const Arguments& arguments, const std::string& rules,
                                    ptc::OptimizerState optimizer) {
  const auto model = arguments.value("model");
  const auto file = arguments.value("tensors");
  if (model.has_value() == file.has_value())
    return InvalidArgument(model ? "--model and --tensors are given: choose one"
                                 : "--model or --tensors says which tensors");
  ModelSource source;
  source.name = model ? *model : *file;
  source.optimizer = optimizer;
  if (const auto text = arguments.value("optimizer")) {
    TESSERA_TRY(source.optimizer, ptc::ParseOptimizerState(*text).Context("--optimizer"));
  }
  TESSERA_TRY(source.zero, readZero(arguments));
  TESSERA_TRY(source.tensors, model ? engine::FindCatalogueTensors(*model) : readTextFile(*file));
  if (!rules.empty()) {
    TESSERA_TRY(source.rules, readRules(rules));
    return source;
  }
  TESSERA_TRY(const auto facts, engine::FactsOf(source.tensors));
  if (facts.rules.empty())
    return InvalidArgument(
        fmt::format("{} names no rule set: give the rules by name or file", source.name));
  TESSERA_TRY(source.rules, readRules(facts.rules));
  return source;
}

}  // namespace tessera::app
