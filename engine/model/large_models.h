// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Published models that the built-in trainer could train, but for their size. Simulated clusters
/// run them: their state has shapes, and no bytes.

#include <string>
#include <string_view>
#include <vector>

#include "engine/model/gpt.h"

namespace tessera::engine {

/// Samples in a batch of a simulated job that gives none: enough for 256 data-parallel ranks.
inline constexpr std::int64_t kLargeBatch = 256;

/// Smallest first. Their names are those of the catalogue (resources/models).
std::vector<std::string> LargeModelNames();
bool IsLargeModel(std::string_view name);
/// Returns a built-in or a large model.
/// \error kNotFound naming the model and the known ones
Result<GptConfig> FindAnyModel(std::string_view name);

}  // namespace tessera::engine
