// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/lessons/lesson_files.h"

#include <QFile>

#include "engine/files/file_or_name.h"
#include "engine/files/whole_file.h"
#include "engine/lesson/lesson_translation.h"
#include "engine/lesson/lessons.h"
#include "ui/language.h"

namespace tessera::ui {
namespace {

bool isLessonPath(const QString& text) { return engine::IsPath(text.toStdString()); }

/// Empty if the language of the panel is that of the lesson's file.
QString translationPath(const QString& path) {
  const std::string language = panelLanguage().toStdString();
  if (language.empty()) return {};
  return QString::fromStdString(engine::LessonTranslationPath(path.toStdString(), language));
}

Result<NamedText> readNamed(const QString& path) {
  NamedText text{path.toStdString(), {}};
  TESSERA_TRY(text.text, engine::ReadWholeFile(text.name));
  return text;
}

}  // namespace

Result<LessonSource> lessonSource(const QString& nameOrFile) {
  LessonSource text;
  if (isLessonPath(nameOrFile)) {
    TESSERA_TRY(text.lesson, readNamed(nameOrFile));
    const QString path = translationPath(nameOrFile);
    if (path.isEmpty() || !QFile::exists(path)) return text;
    TESSERA_TRY(text.translation, readNamed(path));
    return text;
  }
  TESSERA_TRY(text.lesson, engine::FindLessonText(nameOrFile.toStdString()));
  const std::string language = panelLanguage().toStdString();
  for (NamedText& each : engine::LessonTranslations(nameOrFile.toStdString())) {
    if (engine::LessonLanguageOf(each.name) == language) text.translation = std::move(each);
  }
  return text;
}

Result<engine::Lesson> readLesson(const LessonSource& text) {
  TESSERA_TRY(auto lesson, engine::ReadLesson(text.lesson));
  if (!text.translation) return lesson;
  return engine::TranslateLesson(std::move(lesson), *text.translation);
}

QStringList lessonFiles(const QString& nameOrFile) {
  if (!isLessonPath(nameOrFile)) return {};
  QStringList files{nameOrFile};
  const QString translation = translationPath(nameOrFile);
  if (!translation.isEmpty() && QFile::exists(translation)) files << translation;
  return files;
}

}  // namespace tessera::ui
