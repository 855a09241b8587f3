// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Reads JSON that comes from outside: files that users write, and texts that other programs send.
/// Every value keeps its line, so that an error begins with `FILE:LINE: `.
///
/// A text without a name (NamedText::name is empty) has no lines worth naming: its errors begin
/// with the message, and the caller adds a path such as `tensors[3]` as context.

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "ptc/base/result.h"

namespace tessera {

/// The contents of a file and its name in messages.
struct NamedText {
  std::string name;
  std::string text;
  friend bool operator==(const NamedText&, const NamedText&) = default;
};

struct JsonValue {
  enum class Kind : std::uint8_t { kNull, kBool, kInteger, kNumber, kText, kList, kObject };
  Kind kind = Kind::kNull;
  int line = 1;                       // counted from 1
  std::string key = {};               // the key of a member of an object
  std::int64_t integer = 0;           // kInteger; kBool: 0 or 1
  std::string text = {};              // kText; kNumber: as written
  std::vector<JsonValue> items = {};  // kList; kObject: in the order of the file, each key once

  /// The member with that key, or nullptr. O(members).
  const JsonValue* Find(std::string_view member) const;
};

/// The beginning of an error message: "FILE:LINE: ", or nothing for a text without a name.
std::string JsonPosition(const NamedText& file, std::int64_t line);

/// The value as messages show it: "'abc'", "3", "a list", "an object". At most one line.
std::string Describe(const JsonValue& value);

/// Parses a whole text.
/// \error kInvalidArgument `FILE:LINE: …` if the text is not JSON, if an object has a key twice or
///     more than `max_keys` keys, or if more than 64 lists and objects are nested. Without a name
///     the error names the byte instead of the line.
Result<JsonValue> ParseJson(const NamedText& file, std::size_t max_keys = 64);

/// The text as a JSON string, in quotes. Control characters are escaped, and bytes that are not
/// UTF-8 become U+FFFD.
std::string JsonQuoted(std::string_view text);

/// Reads the members of one object. The file and the value must outlive the reader.
///
/// The functions that return a value fail if the member is missing or of another kind. The
/// functions named Optional leave `out` as it is if the member is missing.
/// \error kInvalidArgument `FILE:LINE: …` naming the key, what it must be and what it is
class JsonReader {
 public:
  static constexpr std::int64_t kLowest = std::numeric_limits<std::int64_t>::min();
  static constexpr std::int64_t kHighest = std::numeric_limits<std::int64_t>::max();

  /// `what` names the object in messages, with its article: "a tensor". It must outlive the reader.
  /// \error kInvalidArgument if `value` is not an object or has a key that is not in `keys`
  static Result<JsonReader> Make(const NamedText& file, const JsonValue& value,
                                 std::string_view what,
                                 std::initializer_list<std::string_view> keys);

  /// The member, or nullptr.
  const JsonValue* Find(std::string_view key) const { return value_->Find(key); }
  Result<const JsonValue*> Member(std::string_view key) const;

  Result<std::string> Text(std::string_view key) const;
  Result<bool> Bool(std::string_view key) const;
  /// \error also if the number is below `low` or above `high`
  Result<std::int64_t> Integer(std::string_view key, std::int64_t low = kLowest,
                               std::int64_t high = kHighest) const;
  Result<double> Real(std::string_view key, double low, double high) const;
  Result<const std::vector<JsonValue>*> List(std::string_view key) const;
  Result<std::vector<std::int64_t>> Integers(std::string_view key) const;
  Result<std::vector<std::string>> Texts(std::string_view key) const;

  Status Optional(std::string_view key, std::string& out) const;
  Status Optional(std::string_view key, bool& out) const;
  Status Optional(std::string_view key, std::int64_t& out, std::int64_t low = kLowest,
                  std::int64_t high = kHighest) const;
  Status Optional(std::string_view key, double& out, double low, double high) const;
  Status Optional(std::string_view key, std::vector<std::string>& out) const;

  /// `FILE:LINE: message`, with the line of `value`, or of the object itself.
  Error At(const JsonValue& value, std::string_view message) const;
  Error At(std::string_view message) const { return At(*value_, message); }
  /// `FILE:LINE: 'key' must be EXPECTED, not FOUND`.
  Error Expected(const JsonValue& value, std::string_view expected) const;

 private:
  JsonReader(const NamedText& file, const JsonValue& value, std::string_view what)
      : file_(&file), value_(&value), what_(what) {}
  const NamedText* file_;
  const JsonValue* value_;
  std::string_view what_;
};

}  // namespace tessera
