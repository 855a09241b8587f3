// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The text of an experiment: so much of what is given as a pass needs, and a part that nobody
/// trains on.

#include <cstdint>
#include <string>
#include <vector>

#include "ptc/base/result.h"

namespace tessera::app {

struct ExperimentText {
  std::string training, heldOut;  // paths of the files that were written
  std::string words;              // where it is from
};

/// Writes both files into `folder`, `samples` and `heldOut` of `sequence` tokens (a byte a token).
/// The text is cut into short blocks which are dealt out in an order keyed by `seed`, so that all
/// parts of a pass and the held-out part are of one kind.
/// \param paths files and folders; empty: text that is found on the machine
/// \error kInvalidArgument naming bytes there and bytes needed; kNotFound; as
///     engine::TextDataset::Open; as engine::WriteWholeFile
Result<ExperimentText> writeExperimentText(const std::vector<std::string>& paths,
                                           std::int64_t samples, std::int64_t heldOut,
                                           std::int64_t sequence, std::int64_t seed,
                                           const std::string& folder);

}  // namespace tessera::app
