// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The models and rule sets that come with the program. A model is a table of tensors made from a
/// published configuration; a rule set specifies how the tensors of a family are cut. Both are
/// files of the kind that users write (ptc/FORMAT.md), from resources/models and resources/rules.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ptc/base/result.h"
#include "ptc/rules/rules.h"

namespace tessera::engine {

/// Names in byte order.
std::vector<std::string> CatalogueNames();
std::vector<std::string> RuleSetNames();

/// Returns the file of that name; errors about it begin with the name.
/// \error kNotFound listing the names
Result<ptc::NamedText> FindCatalogueTensors(std::string_view model);
Result<ptc::NamedText> FindRuleSet(std::string_view name);

/// What a tensors file states about its model.
struct ModelFacts {
  std::string title;
  std::string source;  // the publication of the figures
  std::string rules;   // the rule set for it; empty if the file names none
  std::int64_t layers = 0;
  std::int64_t parameters = 0;  // elements of the tensors of role param; tied ones count once
  std::int64_t tensors = 0;     // of every role, without optimizer state
  std::int64_t bytes = 0;       // of these tensors
};
/// \error kInvalidArgument `FILE:LINE: …`
Result<ModelFacts> FactsOf(const ptc::NamedText& tensors);
/// ModelFacts::rules of a model of the catalogue, without the work of the other facts.
/// \error kNotFound as FindCatalogueTensors
Result<std::string> RuleSetOfModel(std::string_view model);
/// FactsOf for a model of the catalogue.
/// \error kNotFound as FindCatalogueTensors
Result<ModelFacts> FactsOfModel(std::string_view model);

}  // namespace tessera::engine
