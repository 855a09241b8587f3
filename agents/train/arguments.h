// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The command line of tessera-train.

#include <string>
#include <string_view>
#include <vector>

#include "engine/model/gpt.h"
#include "ptc/base/result.h"

namespace tessera::agents::train {

struct Arguments {
  bool solo = false, probe = false, json = false, help = false, version = false;
  bool finish_update = false;  // of a rank: only the update that an earlier one left out
  std::string evaluate, settings_file;
  engine::JobSettings settings;  // of --solo
};

/// Parses the words after the program's name. `--set` counts wherever it stands.
/// \error kInvalidArgument names the word and what is wrong with it; kNotFound names the model
Result<Arguments> ParseArguments(const std::vector<std::string_view>& words);

}  // namespace tessera::agents::train
