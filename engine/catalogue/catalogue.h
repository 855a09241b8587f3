// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Models and rule sets that come with the program: tensor tables made from published
/// configurations, and how the tensors of each family are cut. Both are files of the forms that
/// users write (ptc/FORMAT.md); resources/models and resources/rules have them.

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

/// The file of that name, called `NAME` in messages. \error kNotFound listing the names
Result<ptc::NamedText> FindCatalogueTensors(std::string_view model);
Result<ptc::NamedText> FindRuleSet(std::string_view name);

/// What a tensors file says of itself and of its model.
struct ModelFacts {
  std::string title;
  std::string source;  // where the figures come from
  std::string rules;   // the rule set that goes with it; empty where the file names none
  std::int64_t layers = 0;
  std::int64_t parameters = 0;  // elements of the tensors of role param; tied ones count once
  std::int64_t tensors = 0;     // of every role, without optimizer state
  std::int64_t bytes = 0;       // of those
};
/// \error kInvalidArgument `FILE:LINE: …`
Result<ModelFacts> FactsOf(const ptc::NamedText& tensors);
/// Of a model of the catalogue. \error kNotFound as FindCatalogueTensors
Result<ModelFacts> FactsOfModel(std::string_view model);

}  // namespace tessera::engine
