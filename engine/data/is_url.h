// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Tells the names of data apart: URLs, and paths of this machine.

#include <string_view>

namespace tessera::engine {

inline bool IsUrl(std::string_view name) { return name.find("://") != std::string_view::npos; }

}  // namespace tessera::engine
