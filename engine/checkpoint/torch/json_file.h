// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The small JSON files that stand beside checkpoints.

#include <nlohmann/json.hpp>
#include <string>

#include "ptc/base/result.h"

namespace tessera::checkpoint {

/// The JSON object of a file. \error kNotFound, kUnavailable; kInvalidArgument "FILE: byte N: …"
///     for what is no object, and more than `limit` bytes
Result<nlohmann::json> ReadJsonFile(const std::string& path, std::int64_t limit);

}  // namespace tessera::checkpoint
