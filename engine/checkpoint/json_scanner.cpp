// SPDX-License-Identifier: Apache-2.0
#include "engine/checkpoint/json_scanner.h"

#include <fmt/format.h>

#include <algorithm>

#include "ptc/base/utf8.h"

namespace tessera::checkpoint {
namespace {

constexpr int kMaxDepth = 64;

bool IsDigit(char c) { return '0' <= c && c <= '9'; }

void AppendUtf8(std::string& out, std::uint32_t code) {
  const auto put = [&](std::uint32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xc0 | (code >> 6));
    put(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    put(0xe0 | (code >> 12));
    put(0x80 | ((code >> 6) & 0x3f));
    put(0x80 | (code & 0x3f));
  } else {
    put(0xf0 | (code >> 18));
    put(0x80 | ((code >> 12) & 0x3f));
    put(0x80 | ((code >> 6) & 0x3f));
    put(0x80 | (code & 0x3f));
  }
}

}  // namespace

Error JsonScanner::Wrong(std::size_t at, std::string_view what) const {
  return InvalidArgument(
      fmt::format("'{}' at byte {}: {}", where_, base_ + static_cast<std::int64_t>(at), what));
}

char JsonScanner::Peek() {
  while (at_ < text_.size() && std::string_view(" \t\n\r").find(text_[at_]) != text_.npos) ++at_;
  return at_ < text_.size() ? text_[at_] : '\0';
}

std::size_t JsonScanner::Position() {
  Peek();
  return at_;
}

Status JsonScanner::Expect(char wanted, std::string_view what) {
  if (Peek() != wanted) return Wrong(at_, fmt::format("{} expected", what));
  ++at_;
  return OkStatus();
}

Status JsonScanner::Object(const std::function<Status(std::string key, std::size_t at)>& member) {
  TESSERA_RETURN_IF_ERROR(Expect('{', "an object"));
  if (Peek() == '}') {
    ++at_;
    return OkStatus();
  }
  while (true) {
    const std::size_t at = Position();
    TESSERA_TRY(std::string key, String());
    TESSERA_RETURN_IF_ERROR(Expect(':', "':'"));
    TESSERA_RETURN_IF_ERROR(member(std::move(key), at));
    if (Peek() == '}') {
      ++at_;
      return OkStatus();
    }
    TESSERA_RETURN_IF_ERROR(Expect(',', "',' or '}'"));
  }
}

Status JsonScanner::Array(const std::function<Status()>& element) {
  TESSERA_RETURN_IF_ERROR(Expect('[', "an array"));
  if (Peek() == ']') {
    ++at_;
    return OkStatus();
  }
  while (true) {
    TESSERA_RETURN_IF_ERROR(element());
    if (Peek() == ']') {
      ++at_;
      return OkStatus();
    }
    TESSERA_RETURN_IF_ERROR(Expect(',', "',' or ']'"));
  }
}

Result<std::string> JsonScanner::String() {
  TESSERA_RETURN_IF_ERROR(Expect('"', "a string"));
  std::string out;
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c == '"') {
      ++at_;
      return out;
    }
    if (c == '\\') {
      TESSERA_RETURN_IF_ERROR(Escape(out));
      continue;
    }
    if (static_cast<unsigned char>(c) < 0x20) return Wrong(at_, "a control character in a string");
    const std::size_t length = Utf8Length(text_.substr(at_));
    if (length == 0) return Wrong(at_, "a string that is not UTF-8");
    out.append(text_.substr(at_, length));
    at_ += length;
  }
  return Wrong(at_, "the text ends within a string");
}

Status JsonScanner::Escape(std::string& out) {
  const std::size_t begin = at_++;
  const char c = at_ < text_.size() ? text_[at_] : '\0';
  static constexpr std::string_view kShort = "\"\\/bfnrt";
  static constexpr std::string_view kMeaning = "\"\\/\b\f\n\r\t";
  if (const std::size_t which = kShort.find(c); c != '\0' && which != kShort.npos) {
    out.push_back(kMeaning[which]);
    ++at_;
    return OkStatus();
  }
  if (c != 'u') return Wrong(begin, "an unknown escape in a string");
  ++at_;
  TESSERA_TRY(std::uint32_t code, Hex4());
  if (code >= 0xd800 && code <= 0xdfff) {
    const bool pair = code < 0xdc00 && text_.substr(at_, 2) == "\\u";
    if (!pair) return Wrong(begin, "half a surrogate pair in a string");
    at_ += 2;
    TESSERA_TRY(const std::uint32_t low, Hex4());
    if (low < 0xdc00 || low > 0xdfff) return Wrong(begin, "half a surrogate pair in a string");
    code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
  }
  AppendUtf8(out, code);
  return OkStatus();
}

Result<std::uint32_t> JsonScanner::Hex4() {
  std::uint32_t code = 0;
  for (int i = 0; i < 4; ++i, ++at_) {
    static constexpr std::string_view kDigits = "0123456789abcdef";
    const char c = at_ < text_.size() ? text_[at_] : '\0';
    const std::size_t digit = kDigits.find('A' <= c && c <= 'F' ? static_cast<char>(c + 32) : c);
    if (c == '\0' || digit == kDigits.npos) return Wrong(at_, "four hex digits expected after \\u");
    code = code * 16 + static_cast<std::uint32_t>(digit);
  }
  return code;
}

Result<std::int64_t> JsonScanner::Count() {
  const std::size_t begin = Position();
  if (begin >= text_.size() || !IsDigit(text_[begin])) return Wrong(begin, "a count expected");
  std::int64_t value = 0;
  while (at_ < text_.size() && IsDigit(text_[at_])) {
    if (__builtin_mul_overflow(value, 10, &value) ||
        __builtin_add_overflow(value, text_[at_] - '0', &value)) {
      return Wrong(begin, "a count above 2^63-1");
    }
    ++at_;
  }
  if (text_[begin] == '0' && at_ > begin + 1) return Wrong(begin, "a count with a leading zero");
  if (at_ < text_.size() && std::string_view(".eE").find(text_[at_]) != std::string_view::npos) {
    return Wrong(begin, "a count expected, not a fraction");
  }
  return value;
}

bool JsonScanner::Null() {
  constexpr std::string_view kNull = "null";
  if (text_.substr(Position(), kNull.size()) != kNull) return false;
  at_ += kNull.size();
  return true;
}

void JsonScanner::Digits() {
  while (at_ < text_.size() && IsDigit(text_[at_])) ++at_;
}

Status JsonScanner::Number() {
  const std::size_t begin = at_;
  const auto next = [&] { return at_ < text_.size() ? text_[at_] : '\0'; };
  if (next() == '-') ++at_;
  if (!IsDigit(next())) return Wrong(begin, "a value expected");
  if (next() == '0') {
    ++at_;
  } else {
    Digits();
  }
  if (next() == '.') {
    ++at_;
    if (!IsDigit(next())) return Wrong(at_, "a digit expected");
    Digits();
  }
  if (next() == 'e' || next() == 'E') {
    ++at_;
    if (next() == '+' || next() == '-') ++at_;
    if (!IsDigit(next())) return Wrong(at_, "a digit expected");
    Digits();
  }
  return OkStatus();
}

Status JsonScanner::Skip(int depth) {
  const char c = Peek();
  if (depth >= kMaxDepth) return Wrong(at_, fmt::format("a value more than {} deep", kMaxDepth));
  if (c == '{') return Object([&](const std::string&, std::size_t) { return Skip(depth + 1); });
  if (c == '[') return Array([&] { return Skip(depth + 1); });
  if (c == '"') {
    TESSERA_TRY([[maybe_unused]] const std::string text, String());
    return OkStatus();
  }
  for (const std::string_view word : {"true", "false", "null"}) {
    if (text_.substr(at_, word.size()) == word) {
      at_ += word.size();
      return OkStatus();
    }
  }
  return Number();
}

Status JsonScanner::End() {
  Peek();
  if (at_ < text_.size()) return Wrong(at_, "nothing expected after the object");
  return OkStatus();
}

void AppendJsonString(std::string& out, std::string_view text) {
  out.push_back('"');
  for (const char c : text) {
    static constexpr std::string_view kSpecial = "\"\\\b\f\n\r\t";
    static constexpr std::string_view kShort = "\"\\bfnrt";
    if (const std::size_t which = kSpecial.find(c); which != kSpecial.npos) {
      out.push_back('\\');
      out.push_back(kShort[which]);
    } else if (static_cast<unsigned char>(c) < 0x20) {
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned>(c));
    } else {
      out.push_back(c);
    }
  }
  out.push_back('"');
}

std::string Printable(std::string_view name) {
  constexpr std::size_t kMost = 200;
  std::size_t end = std::min(name.size(), kMost);
  while (end < name.size() && end > 0 && (static_cast<unsigned char>(name[end]) & 0xc0) == 0x80) {
    --end;  // do not split a character
  }
  std::string out(name.substr(0, end));
  std::ranges::replace_if(
      out, [](unsigned char c) { return c < 0x20 || c == 0x7f; }, '?');
  return end < name.size() ? out + "…" : out;
}

}  // namespace tessera::checkpoint
