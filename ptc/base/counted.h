// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// A number with its noun.

#include <cstdint>
#include <string>
#include <string_view>

namespace tessera {

/// "1 GPU", "4 GPUs": `noun` is a singular whose plural ends in s.
std::string Counted(std::int64_t count, std::string_view noun);

}  // namespace tessera
