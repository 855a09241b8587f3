// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The model that a command speaks of without a cluster: a table of tensors and the rules that cut
/// them, from the catalogue or from files.

#include <string>

#include "app/commands/options.h"
#include "ptc/rules/rules.h"

namespace tessera::app {

/// The contents of a file, called by its path in messages. \error kNotFound naming it
Result<ptc::NamedText> readTextFile(const std::string& path);

/// A rule set by its name, or the file at that path: what has a '/' or ends in ".json" is a file.
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

/// --model, --tensors, --optimizer, --zero. `optimizer` is its default, as the help says it.
std::vector<OptionSpec> modelOptions(const std::string& optimizer);
OptionSpec rulesOption();

/// What modelOptions() say, with `rules`, or, where that is empty, the rule set that the tensors
/// file names. \error kInvalidArgument without --model and --tensors or with both, and for texts
///     that say nothing; kNotFound
Result<ModelSource> readModelSource(const Arguments& arguments, const std::string& rules,
                                    ptc::OptimizerState optimizer);

}  // namespace tessera::app
