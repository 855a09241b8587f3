// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Lessons in other languages. Beside `my-lesson.json` a file `my-lesson.de.json` has the German
/// texts: an object of the same form that has nothing but texts.

#include <string>
#include <string_view>

#include "engine/lesson/lesson.h"

namespace tessera::engine {

/// "de" of "a/01-shards.de.json"; empty for the file of a lesson.
std::string LessonLanguageOf(std::string_view path);

/// The file of a translation: "a/01-shards.de.json" of "a/01-shards.json" and "de".
std::string LessonTranslationPath(std::string_view path, std::string_view language);

/// Returns the lesson with the texts of `file`. Its plans, answers and conditions stay, and so do
/// the name of its file and the lines of its steps.
/// \error kInvalidArgument `FILE:LINE:COLUMN: …` for what is no JSON, a text that the lesson has and
///     the file has not or the other way round, another number of steps or choices, a text above
///     kMostLessonWords words, and a text whose values in braces are not those of the lesson's text
Result<Lesson> TranslateLesson(Lesson lesson, const NamedText& file);

}  // namespace tessera::engine
