// SPDX-License-Identifier: Apache-2.0
#include "engine/lesson/lessons.h"

#include <fmt/format.h>

#include "engine/lesson/lesson_texts.h"
#include "engine/lesson/lesson_translation.h"

namespace tessera::engine {

std::vector<std::string> LessonFileNames() {
  std::vector<std::string> names;
  for (const LessonResource& text : LessonTexts()) {
    if (LessonLanguageOf(text.file).empty()) names.push_back(LessonNameOf(text.file));
  }
  return names;
}

Result<NamedText> FindLessonText(std::string_view name) {
  for (const LessonResource& text : LessonTexts()) {
    if (LessonNameOf(text.file) == name && LessonLanguageOf(text.file).empty()) {
      return NamedText{std::string(text.file), std::string(text.text)};
    }
  }
  return NotFound(
      fmt::format("no lesson '{}'; there are {}", name, fmt::join(LessonFileNames(), ", ")));
}

std::vector<NamedText> LessonTranslations(std::string_view name) {
  std::vector<NamedText> texts;
  for (const LessonResource& text : LessonTexts()) {
    if (LessonNameOf(text.file) == name && !LessonLanguageOf(text.file).empty()) {
      texts.push_back({std::string(text.file), std::string(text.text)});
    }
  }
  return texts;
}

}  // namespace tessera::engine
