// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The lessons that come with the program: the files of resources/lessons, in their order.

#include <string>
#include <string_view>
#include <vector>

#include "engine/lesson/lesson.h"

namespace tessera::engine {

/// The names of all lessons, in the order of the numbers of their files.
std::vector<std::string> LessonFileNames();
/// \error kNotFound listing the names
Result<NamedText> FindLessonText(std::string_view name);
/// The translations of a lesson; none for an unknown one.
std::vector<NamedText> LessonTranslations(std::string_view name);

}  // namespace tessera::engine
