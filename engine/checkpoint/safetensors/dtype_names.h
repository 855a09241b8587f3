// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Element types by the names that safetensors gives them.

#include <string_view>

#include "ptc/base/result.h"
#include "ptc/dtype.h"

namespace tessera::checkpoint {

/// "BOOL", "F8_E4M3", "BF16", …
std::string_view SafetensorsName(ptc::DType dtype);
/// \error kInvalidArgument for what is no type of the format
Result<ptc::DType> ParseSafetensorsName(std::string_view name);
/// Rank in the order in which the format's library writes: larger ones come first, and they are
/// never less aligned than smaller ones.
int SafetensorsOrder(ptc::DType dtype);

}  // namespace tessera::checkpoint
