// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Arguments that are a name of something known or a file: profiles, lessons, rules.

#include <string_view>

namespace tessera::engine {

/// Whether the text is a path: it has a '/' or ends in ".json".
constexpr bool IsPath(std::string_view file_or_name) {
  return file_or_name.find('/') != std::string_view::npos || file_or_name.ends_with(".json");
}

}  // namespace tessera::engine
