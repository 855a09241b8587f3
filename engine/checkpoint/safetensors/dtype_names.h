// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The names of element types in safetensors files.

#include <string_view>

#include "ptc/base/result.h"
#include "ptc/dtype.h"

namespace tessera::checkpoint {

/// "BOOL", "F8_E4M3", "BF16", …
std::string_view SafetensorsName(ptc::DType dtype);
/// \error kInvalidArgument for a name that the format does not have
Result<ptc::DType> ParseSafetensorsName(std::string_view name);
/// The position of a type in the order of the format's library, which writes larger positions
/// first. A type is never less aligned than a type with a smaller position.
int SafetensorsOrder(ptc::DType dtype);

}  // namespace tessera::checkpoint
