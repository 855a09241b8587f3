// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The values and expressions of lessons: `2 * moved_bytes`, `received_bytes(n0g3) <= 2 GiB`. What
/// the names mean is defined by the caller (lesson_names.h), so that this file knows no cluster.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "ptc/base/result.h"

namespace tessera::engine {

enum class LessonUnit : std::uint8_t { kCount, kBytes, kSeconds, kFraction, kText };

struct LessonValue {
  LessonUnit unit = LessonUnit::kCount;
  double number = 0;      // exact for counts and bytes below 2^53
  std::string text = {};  // kText
  friend bool operator==(const LessonValue&, const LessonValue&) = default;
};

/// "37.4 MiB", "1.2 s", "43 %", "8", "n0 out".
std::string LessonText(const LessonValue& value);

/// Returns the value of a name with its arguments.
using LessonNames =
    std::function<Result<LessonValue>(const std::string& name, const std::vector<std::string>&)>;

/// Evaluates sums, products and quotients of numbers, numbers with a unit (KiB, MiB, GiB, TiB, s,
/// ms, %), names with arguments, and texts in single quotes.
/// \error kInvalidArgument naming what was expected and what is there; that of `names`
Result<LessonValue> EvaluateLesson(std::string_view expression, const LessonNames& names);

/// A condition with both of its sides.
struct LessonCheck {
  bool holds = false;
  bool known = true;        // false: `actual` needs a plan, and there is none
  std::string left;         // as written
  LessonValue actual = {};  // of the left side
  std::string comparison;   // "<=", ">=", "<", ">", "="; empty: the left side must not be 0
  LessonValue limit = {};   // of the right side
};
/// Evaluates `LEFT <= RIGHT` with one of <=, >=, <, > and =, or an expression alone.
/// \error as EvaluateLesson
Result<LessonCheck> CheckLessonCondition(std::string_view condition, const LessonNames& names);

/// Replaces each `{expression}` of a text by its value.
/// \error as EvaluateLesson; also for a brace without its partner
Result<std::string> FillLessonText(std::string_view text, const LessonNames& names,
                                   const std::function<std::string(const LessonValue&)>& print);

}  // namespace tessera::engine
