// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The model of a command that needs no cluster: a table of tensors and the rules that cut them,
/// from the catalogue or from files.

#include <string>

#include "app/commands/options.h"
#include "ptc/rules/rules.h"

namespace tessera::app {

/// The contents of a file. Messages name it by its path.
/// \error kNotFound naming it
Result<ptc::NamedText> readTextFile(const std::string& path);

/// A rule set by name, or a file: text with a '/' or the ending ".json" is a path.
/// \error kNotFound listing the names, or naming the file
Result<ptc::NamedText> readRules(const std::string& nameOrFile);

struct ModelSource {
  std::string name;  // of the model, or the tensors file
  ptc::NamedText tensors;
  ptc::NamedText rules;
  ptc::OptimizerState optimizer = ptc::OptimizerState::kAsFile;
  bool zero = false;
};

/// The value of --zero; false without it.
bool readZero(const Arguments& arguments);

/// --model, --tensors, --optimizer, --zero. `optimizer` is the default in the help.
std::vector<OptionSpec> modelOptions(const std::string& optimizer);
OptionSpec rulesOption();

/// Reads modelOptions(). The rules are `rules` or, if that is empty, the rule set that the table of
/// tensors names.
/// \error kInvalidArgument unless exactly one of --model and --tensors is given, and for wrong
///     values; kNotFound
Result<ModelSource> readModelSource(const Arguments& arguments, const std::string& rules,
                                    ptc::OptimizerState optimizer);

}  // namespace tessera::app
