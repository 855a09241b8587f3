// SPDX-License-Identifier: GPL-3.0-or-later
/// \file
/// `lesson list` and `lesson check`: the lessons of the panel, and those that a lecturer writes.

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "app/commands/command.h"
#include "app/commands/json.h"
#include "app/commands/model_source.h"
#include "app/commands/units.h"
#include "engine/files/file_or_name.h"
#include "engine/lesson/lesson_stage.h"
#include "engine/lesson/lesson_translation.h"
#include "engine/lesson/lessons.h"

namespace tessera::app {
namespace {

/// Of a lesson by its name, or of a file.
Result<NamedText> readLessonText(const std::string& nameOrFile) {
  if (engine::IsPath(nameOrFile)) return readTextFile(nameOrFile);
  return engine::FindLessonText(nameOrFile);
}

int listLessons(const Invocation& call) {
  if (call.arguments.has("names")) return printNames(engine::LessonFileNames());
  Json json = Json::array();
  std::vector<std::vector<std::string>> table = {{"", "lesson", "steps", "title"}};
  for (const std::string& name : engine::LessonFileNames()) {
    TESSERA_OR_FAILED(const auto text, engine::FindLessonText(name));
    TESSERA_OR_FAILED(const auto lesson, engine::ReadLesson(text));
    json.push_back({{"name", name},
                    {"title", lesson.title},
                    {"summary", lesson.summary},
                    {"model", lesson.setup.job.model},
                    {"steps", lesson.steps.size()}});
    table.push_back({fmt::format("{}", json.size()), name, fmt::format("{}", lesson.steps.size()),
                     lesson.title});
  }
  if (call.json) {
    printLine({{"lessons", std::move(json)}});
  } else {
    fmt::print("{}", formatTable(table, {0, 2}));
  }
  return kDone;
}

/// The translations of a lesson: those of the program, or the files beside it.
Result<std::vector<NamedText>> readTranslations(const std::string& nameOrFile) {
  if (!engine::IsPath(nameOrFile)) return engine::LessonTranslations(nameOrFile);
  const std::filesystem::path path(nameOrFile);
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& each : std::filesystem::directory_iterator(
           path.has_parent_path() ? path.parent_path() : ".", error)) {
    const std::string language = engine::LessonLanguageOf(each.path().string());
    const std::string wanted = engine::LessonTranslationPath(path.filename().string(), language);
    if (!language.empty() && each.path().filename() == wanted)
      names.push_back(engine::LessonTranslationPath(nameOrFile, language));
  }
  std::ranges::sort(names);
  std::vector<NamedText> texts;
  for (const std::string& name : names) {
    TESSERA_TRY(texts.emplace_back(), readTextFile(name));
  }
  return texts;
}

struct CheckedLesson {
  std::size_t steps = 0;
  std::vector<std::string> languages;  // of its translations
};

/// \error of the file, of an action, of a text, of a solution or of a translation, with the line
Result<CheckedLesson> rehearse(const std::string& nameOrFile) {
  TESSERA_TRY(const auto text, readLessonText(nameOrFile));
  TESSERA_TRY(auto lesson, engine::ReadLesson(text));
  CheckedLesson checked{lesson.steps.size(), {}};
  TESSERA_TRY(const auto translations, readTranslations(nameOrFile));
  for (const NamedText& translation : translations) {
    if (const auto translated = engine::TranslateLesson(lesson, translation); !translated)
      return translated.error();
    checked.languages.push_back(engine::LessonLanguageOf(translation.name));
  }
  const auto stage = engine::LessonStage::Make(std::move(lesson));
  if (!stage) return engine::WithLessonColumn(stage.error(), text);
  if (const auto status = engine::RehearseLesson(*stage); !status)
    return engine::WithLessonColumn(status.error(), text);
  return checked;
}

int checkLessons(const Invocation& call) {
  Json json = Json::array();
  bool allRight = true;
  for (const std::string& file : call.arguments.words()) {
    const auto checked = rehearse(file);
    if (!checked && checked.error().code == ErrorCode::kNotFound)
      return wrongUsage(checked.error());
    allRight = allRight && checked;
    json.push_back({{"file", file},
                    {"steps", checked ? Json(checked->steps) : Json(nullptr)},
                    {"translations", checked ? Json(checked->languages) : Json::array()},
                    {"problem", checked ? Json(nullptr) : Json(checked.error().message)}});
    if (call.json) continue;
    if (!checked) {
      fmt::print(stderr, "{}\n", checked.error().message);
      continue;
    }
    fmt::print("{}: {} steps, all questions and tasks can be done{}{}\n", file, checked->steps,
               checked->languages.empty() ? "" : ", all texts also in ",
               fmt::join(checked->languages, ", "));
  }
  if (call.json) printLine({{"lessons", std::move(json)}});
  return allRight ? kDone : kUsage;
}

}  // namespace

Command lessonListCommand() {
  return {{.verb = "lesson list",
           .summary = "List the lessons of the panel",
           .options = {namesOption()},
           .notes = {"`tessera --lesson NAME` opens one."},
           .examples = {"tesseractl lesson list"}},
          listLessons};
}

Command lessonCheckCommand() {
  return {{.verb = "lesson check",
           .summary = "Check a lesson: its file, its plans, its questions and its tasks",
           .words = {{"LESSON", "a file, or the name of a lesson", true, true}},
           .notes = {"Runs each lesson from the start to the end without a panel and without a "
                     "cluster, with the solutions of its tasks. A problem is printed as "
                     "FILE:LINE:COLUMN, and the exit code is then 2.",
                     "Translations beside the file, such as my-lesson.de.json, are checked, too.",
                     "The format is described in the guide, page \"Writing a lesson\"."},
           .examples = {"tesseractl lesson check my-lesson.json",
                        "tesseractl lesson check what-moves --json"}},
          checkLessons};
}

}  // namespace tessera::app
