// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The names of values in lessons: what each means, and its value on a stage.

#include <span>
#include <string_view>

#include "engine/lesson/lesson_value.h"

namespace tessera::engine {

struct LessonState;

struct LessonName {
  std::string_view name;
  LessonUnit unit;
  /// What it takes in parentheses: "", "GPU", "GPU or node", "tensor", "tensor, GPU". In square
  /// brackets: may be left out.
  std::string_view arguments;
  std::string_view meaning;  // one line, for the documentation and for the panel
  bool of_plan;              // needs a plan
};
/// All names, in the order of the documentation.
std::span<const LessonName> LessonNameTable();
/// The meaning of the name at the begin of an expression: "bytes that move"; the expression itself
/// if it begins with no name.
std::string LessonMeaning(std::string_view expression);

/// Names without a stage: every known name has some value of its unit. For checks of expressions.
/// \error kInvalidArgument naming an unknown name and the known ones
LessonNames AnyLessonNames();

/// The names on a stage. `state` must outlive the result.
/// \error kInvalidArgument for a name that does not exist and for a wrong argument;
///     kFailedPrecondition for a value of a plan if there is none
LessonNames NamesOnStage(const LessonState& state);

}  // namespace tessera::engine
