// SPDX-License-Identifier: Apache-2.0
#include "engine/lesson/lesson_value.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>

#include "engine/search/fit.h"
#include "ptc/base/utf8.h"

namespace tessera::engine {
namespace {

constexpr bool IsDigit(char c) { return c >= '0' && c <= '9'; }
constexpr bool IsNameChar(char c) { return (c >= 'a' && c <= 'z') || c == '_' || IsDigit(c); }

struct WrittenUnit {
  std::string_view name;
  LessonUnit unit;
  double factor;
};
// A unit that begins with another one comes first.
constexpr std::array kWrittenUnits = {
    WrittenUnit{"KiB", LessonUnit::kBytes, 1024.0},
    WrittenUnit{"MiB", LessonUnit::kBytes, 1048576.0},
    WrittenUnit{"GiB", LessonUnit::kBytes, 1073741824.0},
    WrittenUnit{"TiB", LessonUnit::kBytes, 1099511627776.0},
    WrittenUnit{"ms", LessonUnit::kSeconds, 1e-3},
    WrittenUnit{"s", LessonUnit::kSeconds, 1.0},
    WrittenUnit{"%", LessonUnit::kFraction, 0.01},
};

class ExpressionParser {
 public:
  ExpressionParser(std::string_view text, const LessonNames& names) : text_(text), names_(names) {}

  Result<LessonValue> Whole() {
    TESSERA_TRY(LessonValue value, Sum());
    if (at_ < text_.size()) return Unexpected("an operator");
    return value;
  }

 private:
  void SkipSpace() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool Take(char c) {
    SkipSpace();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    SkipSpace();
    return true;
  }
  Error Unexpected(std::string_view expected) const {
    return InvalidArgument(
        at_ < text_.size()
            ? fmt::format("'{}': '{}' where {} is expected", Escaped(text_),
                          Escaped(text_.substr(at_)), expected)
            : fmt::format("'{}' ends where {} is expected", Escaped(text_), expected));
  }

  Result<LessonValue> Sum() {
    TESSERA_TRY(LessonValue sum, Product());
    while (true) {
      const double sign = Take('+') ? 1 : Take('-') ? -1 : 0;
      if (sign == 0) return sum;
      TESSERA_TRY(const LessonValue next, Product());
      if (next.unit != sum.unit || sum.unit == LessonUnit::kText) {
        return InvalidArgument(fmt::format("'{}' adds values of different units: {} and {}",
                                           Escaped(text_), Escaped(LessonText(sum)),
                                           Escaped(LessonText(next))));
      }
      sum.number += sign * next.number;
    }
  }

  Result<LessonValue> Product() {
    TESSERA_TRY(LessonValue product, Factor());
    while (true) {
      const bool times = Take('*');
      if (!times && !Take('/')) return product;
      TESSERA_TRY(const LessonValue next, Factor());
      const bool plain = next.unit == LessonUnit::kCount || next.unit == LessonUnit::kFraction;
      if (times && (plain || product.unit == LessonUnit::kCount)) {
        product.number *= next.number;
        if (!plain) product.unit = next.unit;
      } else if (!times && next.number != 0 && (plain || next.unit == product.unit)) {
        product.number /= next.number;
        if (next.unit == product.unit) product.unit = LessonUnit::kCount;
      } else {
        return InvalidArgument(fmt::format("'{}' {} {} by {}", Escaped(text_),
                                           times ? "multiplies" : "divides",
                                           Escaped(LessonText(product)),
                                           Escaped(LessonText(next))));
      }
    }
  }

  Result<LessonValue> Factor() {
    SkipSpace();
    if (at_ == text_.size()) return Unexpected("a value");
    if (Take('(')) {
      if (++depth_ > kDeepest) {
        return InvalidArgument(fmt::format("more than {} parentheses are open at once", kDeepest));
      }
      TESSERA_TRY(LessonValue value, Sum());
      --depth_;
      if (!Take(')')) return Unexpected("')'");
      return value;
    }
    if (text_[at_] == '\'') return Quoted();
    if (IsDigit(text_[at_])) return Number();
    if (IsNameChar(text_[at_])) return Name();
    return Unexpected("a value");
  }

  Result<LessonValue> Quoted() {
    const std::size_t end = text_.find('\'', at_ + 1);
    if (end == std::string_view::npos) return Unexpected("a text between two quotes");
    LessonValue value{LessonUnit::kText, 0, std::string(text_.substr(at_ + 1, end - at_ - 1))};
    at_ = end + 1;
    SkipSpace();
    return value;
  }

  Result<LessonValue> Number() {
    LessonValue value;
    const auto read =
        std::from_chars(text_.data() + at_, text_.data() + text_.size(), value.number);
    if (read.ec != std::errc()) return Unexpected("a number");
    at_ = static_cast<std::size_t>(read.ptr - text_.data());
    SkipSpace();
    for (const WrittenUnit& unit : kWrittenUnits) {
      if (!text_.substr(at_).starts_with(unit.name)) continue;
      at_ += unit.name.size();
      SkipSpace();
      return LessonValue{unit.unit, value.number * unit.factor, {}};
    }
    return value;
  }

  Result<LessonValue> Name() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && IsNameChar(text_[at_])) ++at_;
    const std::string name(text_.substr(begin, at_ - begin));
    std::vector<std::string> arguments;
    if (Take('(')) {
      const std::size_t end = text_.find(')', at_);
      if (end == std::string_view::npos) return Unexpected("')'");
      std::string_view list = text_.substr(at_, end - at_);
      while (true) {
        const std::size_t comma = list.find(',');
        std::string_view word = list.substr(0, comma);
        while (word.starts_with(' ')) word.remove_prefix(1);
        while (word.ends_with(' ')) word.remove_suffix(1);
        if (word.empty()) return Unexpected("an argument");
        arguments.emplace_back(word);
        if (comma == std::string_view::npos) break;
        list.remove_prefix(comma + 1);
      }
      at_ = end + 1;
    }
    SkipSpace();
    return names_(name, arguments);
  }

  std::string_view text_;
  const LessonNames& names_;
  static constexpr int kDeepest = 64;
  std::size_t at_ = 0;
  int depth_ = 0;  // of parentheses
};

bool Compare(const LessonValue& a, std::string_view comparison, const LessonValue& b) {
  if (a.unit == LessonUnit::kText) return a.text == b.text;
  if (comparison == "<=") return a.number <= b.number;
  if (comparison == ">=") return a.number >= b.number;
  if (comparison == "<") return a.number < b.number;
  if (comparison == ">") return a.number > b.number;
  return a.number == b.number;
}

}  // namespace

std::string LessonText(const LessonValue& value) {
  switch (value.unit) {
    case LessonUnit::kCount:
      return fmt::format("{:.6g}", value.number);
    case LessonUnit::kBytes:
      // BytesText begins at MiB.
      if (value.number < 1024) return fmt::format("{:.0f} B", value.number);
      if (value.number < 1048576) return fmt::format("{:.1f} KiB", value.number / 1024);
      return BytesText(std::llround(value.number));
    case LessonUnit::kSeconds:
      return value.number < 0.1 ? fmt::format("{:.3g} ms", value.number * 1e3)
                                : fmt::format("{:.3g} s", value.number);
    case LessonUnit::kFraction:
      return fmt::format("{:.3g} %", value.number * 100);
    case LessonUnit::kText:
      return value.text;
  }
  return {};
}

Result<LessonValue> EvaluateLesson(std::string_view expression, const LessonNames& names) {
  return ExpressionParser(expression, names).Whole();
}

Result<LessonCheck> CheckLessonCondition(std::string_view condition, const LessonNames& names) {
  LessonCheck check;
  const std::size_t at = condition.find_first_of("<>=");
  std::string_view left = condition.substr(0, at);
  while (left.ends_with(' ')) left.remove_suffix(1);
  check.left = left;
  TESSERA_TRY(check.actual, EvaluateLesson(left, names));
  if (at == std::string_view::npos) {
    check.holds = check.actual.number != 0;
    return check;
  }
  const bool two = at + 1 < condition.size() && condition[at] != '=' && condition[at + 1] == '=';
  check.comparison = condition.substr(at, two ? 2 : 1);
  TESSERA_TRY(check.limit, EvaluateLesson(condition.substr(at + (two ? 2 : 1)), names));
  const bool texts =
      check.actual.unit == LessonUnit::kText || check.limit.unit == LessonUnit::kText;
  if (check.actual.unit != check.limit.unit || (texts && check.comparison != "=")) {
    return InvalidArgument(fmt::format("'{}' compares values of different units: {} and {}",
                                       Escaped(condition), Escaped(LessonText(check.actual)),
                                       Escaped(LessonText(check.limit))));
  }
  check.holds = Compare(check.actual, check.comparison, check.limit);
  return check;
}

Result<std::string> FillLessonText(std::string_view text, const LessonNames& names,
                                   const std::function<std::string(const LessonValue&)>& print) {
  std::string filled;
  while (true) {
    const std::size_t open = text.find_first_of("{}");
    filled += text.substr(0, open);
    if (open == std::string_view::npos) return filled;
    const std::size_t close = text.find('}', open);
    if (text[open] == '}' || close == std::string_view::npos) {
      return InvalidArgument(
          fmt::format("'{}' has a brace without its partner", Escaped(text.substr(open))));
    }
    TESSERA_TRY(const LessonValue value,
                EvaluateLesson(text.substr(open + 1, close - open - 1), names));
    filled += print(value);
    text.remove_prefix(close + 1);
  }
}

}  // namespace tessera::engine
