// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The data set that a job's settings name.

#include "engine/data/text_dataset.h"
#include "engine/model/gpt.h"

namespace tessera::agents::train {

/// The settings' paths; where they name none, the text that is found on the machine.
/// \error kNotFound where nothing is named and nothing is found; else as TextDataset::Open
Result<engine::TextDataset> OpenData(const engine::JobSettings& settings);

}  // namespace tessera::agents::train
