// SPDX-License-Identifier: Apache-2.0
// Lesson files, and the expressions within their texts.
#include "engine/lesson/lesson.h"
#include "engine/lesson/lesson_value.h"
#include "tests/fuzz/fuzz_target.h"

using namespace tessera;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(fuzz::Text(data, size));
  const auto lesson = engine::ReadLesson({"a.json", text});
  if (!lesson) fuzz::CheckError(lesson.error(), {"a.json:"});
  if (const Status good = engine::CheckLessonText("text", text); !good)
    fuzz::CheckError(good.error(), {"text"});
  const auto names = [](const std::string&, const std::vector<std::string>& words) {
    return Result<engine::LessonValue>(
        engine::LessonValue{.number = static_cast<double>(words.size())});
  };
  if (const auto value = engine::EvaluateLesson(text, names); !value)
    fuzz::CheckError(value.error());
  if (const auto check = engine::CheckLessonCondition(text, names); !check)
    fuzz::CheckError(check.error());
  return 0;
}
