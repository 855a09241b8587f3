// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// `checkpoint save --for huggingface`: the parameters of a saved checkpoint as a folder that
/// `from_pretrained` of transformers opens.

#include <cstdint>
#include <string>

#include "app/commands/command.h"

namespace tessera::app {

struct HuggingFaceFolder {
  std::string path;
  std::int64_t tensors = 0;
  std::int64_t bytes = 0;
  bool hasConfig = false;  // without config.json from_pretrained does not open it
};

/// Checks a folder for `--like` before anything is saved.
/// \error kNotFound if it does not exist here or has no config.json
Status checkLike(const std::string& like);

/// Writes SAVED-huggingface beside the checkpoint: its parameters and the buffers of its model, each
/// tied tensor under all of its names, without the state of the optimizer; and a copy of the files
/// in `like` that are not weights, such as config.json and those of the tokenizer.
/// \param like empty: none
/// \error kNotFound if this machine does not see the checkpoint; kFailedPrecondition if an earlier
///     version has saved it, which did not note what its tensors are; those of Reshard
Result<HuggingFaceFolder> writeHuggingFace(const Invocation& call, const std::string& saved,
                                           const std::string& like);

}  // namespace tessera::app
