// SPDX-License-Identifier: Apache-2.0
/// \file
/// Runs a lesson as a student would who does everything right.
#include <fmt/format.h>

#include <algorithm>

#include "engine/lesson/lesson_names.h"
#include "engine/lesson/lesson_stage.h"

namespace tessera::engine {
namespace {

Error LineError(const Lesson& lesson, int line, std::string_view message) {
  return InvalidArgument(fmt::format("{}:{}: {}", lesson.file, line, message));
}

/// Checks that the values of a text exist where it is shown.
Status CheckText(const Lesson& lesson, int line, std::string_view what, const std::string& text,
                 const LessonState& state) {
  const auto filled = FillLessonText(text, NamesOnStage(state), LessonText);
  if (filled) return OkStatus();
  return LineError(lesson, line, fmt::format("'{}': {}", what, filled.error().ToString()));
}

Status CheckQuestion(const LessonStage& stage, std::size_t at) {
  const Lesson& lesson = stage.lesson();
  const LessonQuestion& question = *lesson.steps[at].predict;
  const LessonState& state = stage.AnswerState(at);
  TESSERA_RETURN_IF_ERROR(CheckText(lesson, question.line, "ask", question.ask, stage.StateAt(at)));
  TESSERA_RETURN_IF_ERROR(CheckText(lesson, question.line, "explain", question.explain, state));
  for (const LessonQuestion::Choice& choice : question.choices) {
    TESSERA_RETURN_IF_ERROR(CheckText(lesson, question.line, "text", choice.text, state));
  }
  if (const auto answer = AnswerOf(question, state); !answer) {
    return LineError(lesson, question.line,
                     fmt::format("'predict': {}", answer.error().ToString()));
  }
  return OkStatus();
}

Status CheckTaskOf(const LessonStage& stage, std::size_t at) {
  const Lesson& lesson = stage.lesson();
  const LessonTask& task = *lesson.steps[at].task;
  const LessonState& state = stage.StateAt(at);
  TESSERA_RETURN_IF_ERROR(CheckText(lesson, task.line, "text", task.text, state));
  TESSERA_RETURN_IF_ERROR(CheckText(lesson, task.line, "hint", task.hint, state));
  const auto open = CheckTask(task, state, nullptr);
  if (std::ranges::all_of(open, &LessonCheck::holds)) {
    return LineError(lesson, task.line, "'do' is done before anything is drafted");
  }
  const auto plan = PlanLessonChange(state, task.solution);
  if (!plan) {
    return LineError(lesson, task.line,
                     fmt::format("'solution' cannot be planned: {}", plan.error().ToString()));
  }
  LessonState drafted = state;
  drafted.plan = *plan;
  drafted.is_moved = false;
  const LessonNames names = NamesOnStage(drafted);
  for (const LessonTask::Condition& condition : task.check) {
    const auto check = CheckLessonCondition(condition.text, names);
    if (!check) return LineError(lesson, condition.line, check.error().ToString());
    if (!check->holds) {
      return LineError(lesson, condition.line,
                       fmt::format("the solution does not meet '{}': it has {}", condition.text,
                                   LessonText(check->actual)));
    }
  }
  return OkStatus();
}

}  // namespace

Status RehearseLesson(const LessonStage& stage) {
  const Lesson& lesson = stage.lesson();
  for (std::size_t at = 0; at < stage.num_steps(); ++at) {
    const LessonStep& step = lesson.steps[at];
    TESSERA_RETURN_IF_ERROR(CheckText(lesson, step.line, "text", step.text, stage.StateAt(at)));
    if (step.predict) TESSERA_RETURN_IF_ERROR(CheckQuestion(stage, at));
    if (step.task) TESSERA_RETURN_IF_ERROR(CheckTaskOf(stage, at));
  }
  return OkStatus();
}

}  // namespace tessera::engine
