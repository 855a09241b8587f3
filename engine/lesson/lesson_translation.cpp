// SPDX-License-Identifier: Apache-2.0
#include "engine/lesson/lesson_translation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <set>
#include <utility>

namespace tessera::engine {
namespace {

bool IsLowerLetter(char c) { return c >= 'a' && c <= 'z'; }

/// The expressions in braces. The braces of the text are known to be in pairs.
std::set<std::string> ValuesIn(std::string_view text) {
  std::set<std::string> values;
  while (true) {
    const std::size_t open = text.find('{');
    if (open == std::string_view::npos) return values;
    const std::size_t close = text.find('}', open);
    values.emplace(text.substr(open + 1, close - open - 1));
    text.remove_prefix(close + 1);
  }
}

/// Reads the file beside the lesson and replaces one text after the other.
class LessonTranslator {
 public:
  LessonTranslator(const NamedText& file, const Lesson& lesson) : file_(file), lesson_(lesson) {}

  Status Translate(const JsonValue& root, Lesson& to) const {
    TESSERA_TRY(const auto reader,
                JsonReader::Make(file_, root, "a translation", {"title", "summary", "steps"}));
    TESSERA_RETURN_IF_ERROR(Replace(reader, "title", 1, to.title));
    TESSERA_RETURN_IF_ERROR(Replace(reader, "summary", 1, to.summary));
    TESSERA_TRY(const auto* steps, reader.List("steps"));
    TESSERA_RETURN_IF_ERROR(SameNumber(reader, "steps", steps->size(), to.steps.size()));
    for (std::size_t i = 0; i < steps->size(); ++i) {
      TESSERA_RETURN_IF_ERROR(TranslateStep((*steps)[i], to.steps[i]));
    }
    return OkStatus();
  }

 private:
  /// "l.json, line 7"
  std::string Place(int line) const { return fmt::format("{}, line {}", lesson_.file, line); }

  Status SameNumber(const JsonReader& reader, std::string_view key, std::size_t found,
                    std::size_t wanted) const {
    if (found == wanted) return OkStatus();
    return reader.At(*reader.Find(key), fmt::format("'{}' has {} entries, {} has {}", key, found,
                                                    lesson_.file, wanted));
  }

  Status CheckAgainst(const JsonReader& reader, const JsonValue& value, std::string_view key,
                      int line, const std::string& before, const std::string& text) const {
    if (const Status good = CheckLessonText(key, text); !good) {
      return reader.At(value, good.error().message);
    }
    const std::set<std::string> wanted = ValuesIn(before), found = ValuesIn(text);
    for (const std::string& each : wanted) {
      if (!found.contains(each)) {
        return reader.At(value, fmt::format("'{}' lacks {{{}}}, which the text in {} has", key,
                                            each, Place(line)));
      }
    }
    for (const std::string& each : found) {
      if (!wanted.contains(each)) {
        return reader.At(value, fmt::format("'{}' has {{{}}}, which the text in {} lacks", key,
                                            each, Place(line)));
      }
    }
    return OkStatus();
  }

  /// Replaces a text that the lesson has, or checks that neither has it.
  Status Replace(const JsonReader& reader, std::string_view key, int line,
                 std::string& text) const {
    const JsonValue* value = reader.Find(key);
    if (text.empty()) {
      if (value == nullptr) return OkStatus();
      return reader.At(*value, fmt::format("'{}' is superfluous: {} has none", key, Place(line)));
    }
    TESSERA_TRY(std::string translated, reader.Text(key));
    TESSERA_RETURN_IF_ERROR(CheckAgainst(reader, *value, key, line, text, translated));
    text = std::move(translated);
    return OkStatus();
  }

  /// The object below `key`; null if neither file has one.
  Result<const JsonValue*> Part(const JsonReader& reader, std::string_view key, bool wanted,
                                int line) const {
    const JsonValue* value = reader.Find(key);
    if (wanted) return reader.Member(key);
    if (value == nullptr) return value;
    return reader.At(*value, fmt::format("'{}' is superfluous: {} has none", key, Place(line)));
  }

  Status TranslateQuestion(const JsonValue& value, LessonQuestion& to) const {
    TESSERA_TRY(const auto reader,
                JsonReader::Make(file_, value, "a question", {"ask", "choices", "explain"}));
    TESSERA_RETURN_IF_ERROR(Replace(reader, "ask", to.line, to.ask));
    TESSERA_RETURN_IF_ERROR(Replace(reader, "explain", to.line, to.explain));
    TESSERA_TRY(const JsonValue* found, Part(reader, "choices", !to.choices.empty(), to.line));
    if (found == nullptr) return OkStatus();
    TESSERA_TRY(const auto texts, reader.Texts("choices"));
    TESSERA_RETURN_IF_ERROR(SameNumber(reader, "choices", texts.size(), to.choices.size()));
    for (std::size_t i = 0; i < texts.size(); ++i) {
      std::string& text = to.choices[i].text;
      if (text.empty() && texts[i].empty()) continue;
      if (text.empty()) {
        return reader.At(found->items[i], fmt::format("choice {} must be \"\": {} has no text for "
                                                      "it",
                                                      i + 1, Place(to.line)));
      }
      TESSERA_RETURN_IF_ERROR(
          CheckAgainst(reader, found->items[i], "choices", to.line, text, texts[i]));
      text = texts[i];
    }
    return OkStatus();
  }

  Status TranslateTask(const JsonValue& value, LessonTask& to) const {
    TESSERA_TRY(const auto reader, JsonReader::Make(file_, value, "a task", {"text", "hint"}));
    TESSERA_RETURN_IF_ERROR(Replace(reader, "text", to.line, to.text));
    return Replace(reader, "hint", to.line, to.hint);
  }

  Status TranslateStep(const JsonValue& value, LessonStep& to) const {
    TESSERA_TRY(const auto reader,
                JsonReader::Make(file_, value, "a step", {"text", "predict", "do"}));
    TESSERA_RETURN_IF_ERROR(Replace(reader, "text", to.line, to.text));
    TESSERA_TRY(const JsonValue* predict, Part(reader, "predict", to.predict.has_value(), to.line));
    if (predict != nullptr) {
      TESSERA_RETURN_IF_ERROR(TranslateQuestion(*predict, *to.predict));
    }
    TESSERA_TRY(const JsonValue* task, Part(reader, "do", to.task.has_value(), to.line));
    if (task != nullptr) {
      TESSERA_RETURN_IF_ERROR(TranslateTask(*task, *to.task));
    }
    return OkStatus();
  }

  const NamedText& file_;
  const Lesson& lesson_;
};

}  // namespace

std::string LessonLanguageOf(std::string_view path) {
  constexpr std::string_view kEnding = ".json";
  if (!path.ends_with(kEnding)) return {};
  path.remove_suffix(kEnding.size());
  if (path.size() < 4 || path[path.size() - 3] != '.' || path[path.size() - 4] == '/') return {};
  const std::string_view code = path.substr(path.size() - 2);
  return std::ranges::all_of(code, IsLowerLetter) ? std::string(code) : std::string();
}

std::string LessonTranslationPath(std::string_view path, std::string_view language) {
  if (path.ends_with(".json")) path.remove_suffix(5);
  return fmt::format("{}.{}.json", path, language);
}

Result<Lesson> TranslateLesson(Lesson lesson, const NamedText& file) {
  const auto root = ParseJson(file);
  if (!root) return WithLessonColumn(root.error(), file);
  Lesson translated = lesson;
  if (const Status good = LessonTranslator(file, lesson).Translate(*root, translated); !good) {
    return WithLessonColumn(good.error(), file);
  }
  return translated;
}

}  // namespace tessera::engine
