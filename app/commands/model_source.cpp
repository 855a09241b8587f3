// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/commands/model_source.h"

#include <fmt/format.h>

#include <utility>

#include "app/commands/placement.h"
#include "engine/catalogue/catalogue.h"
#include "engine/files/file_or_name.h"
#include "engine/files/whole_file.h"

namespace tessera::app {

Result<ptc::NamedText> readTextFile(const std::string& path) {
  TESSERA_TRY(auto text, engine::ReadWholeFile(path));
  return ptc::NamedText{path, std::move(text)};
}

Result<ptc::NamedText> readRules(const std::string& nameOrFile) {
  if (engine::IsPath(nameOrFile)) return readTextFile(nameOrFile);
  return engine::FindRuleSet(nameOrFile);
}

std::vector<OptionSpec> modelOptions(const std::string& optimizer) {
  return {{.name = "model", .value = "MODEL", .help = "a model of `models list`"},
          {.name = "tensors",
           .value = "FILE",
           .help = "a table of tensors instead of a model, as for `job start --exec`"},
          {.name = "optimizer",
           .value = "",
           .help = "optimizer state beside the parameters",
           .fallback = optimizer,
           .choices = {"adamw", "none"}},
          zeroOption("off")};
}

bool readZero(const Arguments& arguments) { return arguments.valueOr("zero", "off") == "on"; }

OptionSpec rulesOption() {
  return {.name = "rules",
          .value = "RULES",
          .help = "how tensors are cut: a rule set of `rules list`, or a file",
          .fallback = "the model's"};
}

Result<ModelSource> readModelSource(const Arguments& arguments, const std::string& rules,
                                    ptc::OptimizerState optimizer) {
  const auto model = arguments.value("model");
  const auto file = arguments.value("tensors");
  if (model.has_value() == file.has_value())
    return InvalidArgument(model ? "--model and --tensors are given: choose one"
                                 : "give the tensors with --model or --tensors");
  ModelSource source;
  source.name = model ? *model : *file;
  source.optimizer = optimizer;
  if (const auto text = arguments.value("optimizer")) {
    TESSERA_TRY(source.optimizer, ptc::ParseOptimizerState(*text).Context("--optimizer"));
  }
  source.zero = readZero(arguments);
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
