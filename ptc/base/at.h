// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Positions kept as int, as indices of standard containers.

#include <cstddef>

namespace tessera {

/// \pre position >= 0
constexpr std::size_t At(int position) { return static_cast<std::size_t>(position); }

}  // namespace tessera
