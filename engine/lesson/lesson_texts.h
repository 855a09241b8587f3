// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The files of resources/lessons, which the build compiles in: lessons and their translations.

#include <span>
#include <string_view>

namespace tessera::engine {

struct LessonResource {
  std::string_view file;  // "05-what-moves.json"
  std::string_view text;
};
/// In byte order of the names.
std::span<const LessonResource> LessonTexts();

}  // namespace tessera::engine
