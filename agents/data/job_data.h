// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The data that a job of the built-in trainer reads.

#include "engine/cluster/data_status.h"
#include "engine/data/data_mix.h"
#include "engine/data/index_file.h"
#include "engine/model/gpt.h"

namespace tessera::agents {

/// Opens the data that the settings name, or, if they name none, the text found on the machine.
/// Indexes and blocks from servers are kept in TesseraHome()/cache; `index.folder` is not used.
/// \error kNotFound if no data is named and none is found; else as OpenData
Result<engine::DataMix> OpenJobData(const engine::JobSettings& settings,
                                    const engine::IndexOptions& index = {});

/// Describes the data for a snapshot.
engine::DataStatus Describe(const engine::DataMix& data, const engine::JobSettings& settings);

}  // namespace tessera::agents
