// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The data that a job of the built-in trainer reads.

#include "engine/cluster/data_status.h"
#include "engine/data/data_mix.h"
#include "engine/data/index_file.h"
#include "engine/model/gpt.h"

namespace tessera::agents {

/// What the settings name; where they name nothing, the text that is found on the machine. Indexes
/// and blocks from servers are kept in TesseraHome()/cache; `index.folder` is not read.
/// \error kNotFound where nothing is named and nothing is found; else as OpenData
Result<engine::DataMix> OpenJobData(const engine::JobSettings& settings,
                                    const engine::IndexOptions& index = {});

/// The same in the words of a snapshot.
engine::DataStatus Describe(const engine::DataMix& data, const engine::JobSettings& settings);

}  // namespace tessera::agents
