// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The text of an experiment: one pass for training, and a held-out part.

#include <cstdint>
#include <string>
#include <vector>

#include "ptc/base/result.h"

namespace tessera::app {

struct ExperimentText {
  std::string training, heldOut;  // paths of the written files
  std::string words;              // its source, for people
};

/// Writes both files into `folder`, with `samples` and `heldOut` samples of `sequence` tokens. Each
/// byte is a token. The text is cut into short blocks, which are shuffled by `seed`, so that all
/// parts of a pass and the held-out part have the same distribution.
/// \param paths files and folders; empty: text found on the machine
/// \error kInvalidArgument naming the bytes found and needed; kNotFound; as
///     engine::TextDataset::Open; as engine::WriteWholeFile
Result<ExperimentText> writeExperimentText(const std::vector<std::string>& paths,
                                           std::int64_t samples, std::int64_t heldOut,
                                           std::int64_t sequence, std::int64_t seed,
                                           const std::string& folder);

}  // namespace tessera::app
