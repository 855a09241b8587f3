// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The text of a lesson in the language of the panel, from the program or from a file.

#include <QString>
#include <QStringList>
#include <optional>

#include "engine/lesson/lesson.h"

namespace tessera::ui {

struct LessonSource {
  NamedText lesson;
  std::optional<NamedText> translation = {};  // empty: there is none for this language
};

/// The lesson of the program with that name, or a file: text with a '/' or the ending ".json" is a
/// path.
/// \error kNotFound for an unknown name; as engine::ReadWholeFile
Result<LessonSource> lessonSource(const QString& nameOrFile);

/// \error as engine::ReadLesson and engine::TranslateLesson
Result<engine::Lesson> readLesson(const LessonSource& text);

/// The files of the lesson that exist; none for a lesson of the program.
QStringList lessonFiles(const QString& nameOrFile);

}  // namespace tessera::ui
