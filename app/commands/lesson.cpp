// SPDX-License-Identifier: GPL-3.0-or-later
/// \file
/// `lesson list` and `lesson check`: the lessons of the panel, and those that a lecturer writes.

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "app/commands/command.h"
#include "app/commands/json.h"
#include "app/commands/model_source.h"
#include "app/commands/units.h"
#include "engine/lesson/lesson_stage.h"
#include "engine/lesson/lessons.h"

namespace tessera::app {
namespace {

/// A lesson by its name, or a file: text with a '/' or the ending ".json" is a path.
Result<NamedText> readLessonText(const std::string& nameOrFile) {
  if (nameOrFile.find('/') != std::string::npos || nameOrFile.ends_with(".json"))
    return readTextFile(nameOrFile);
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

/// The number of its steps.
/// \error of the file, of an action, of a text or of a solution, with the line
Result<std::size_t> rehearse(const std::string& nameOrFile) {
  TESSERA_TRY(const auto text, readLessonText(nameOrFile));
  TESSERA_TRY(auto lesson, engine::ReadLesson(text));
  const auto stage = engine::LessonStage::Make(std::move(lesson));
  if (!stage) return engine::WithLessonColumn(stage.error(), text);
  if (const auto status = engine::RehearseLesson(*stage); !status)
    return engine::WithLessonColumn(status.error(), text);
  return stage->num_steps();
}

int checkLessons(const Invocation& call) {
  Json json = Json::array();
  bool allRight = true;
  for (const std::string& file : call.arguments.words()) {
    const auto steps = rehearse(file);
    if (!steps && steps.error().code == ErrorCode::kNotFound) return wrongUsage(steps.error());
    allRight = allRight && steps;
    json.push_back({{"file", file},
                    {"steps", steps ? Json(*steps) : Json(nullptr)},
                    {"problem", steps ? Json(nullptr) : Json(steps.error().message)}});
    if (call.json) continue;
    if (steps)
      fmt::print("{}: {} steps, all questions and tasks can be done\n", file, *steps);
    else
      fmt::print(stderr, "{}\n", steps.error().message);
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
                     "The format is described in the guide, page \"Writing a lesson\"."},
           .examples = {"tesseractl lesson check my-lesson.json",
                        "tesseractl lesson check what-moves --json"}},
          checkLessons};
}

}  // namespace tessera::app
