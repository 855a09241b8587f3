// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// JSON that a user writes: the values with the lines they stand on, and readers whose errors are
/// `FILE:LINE: what was expected, not what stands there`.

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "ptc/base/result.h"
#include "ptc/rules/rules.h"

namespace tessera::ptc {

struct JsonValue {
  enum class Kind : std::uint8_t { kNull, kBool, kInteger, kNumber, kText, kList, kObject };
  Kind kind = Kind::kNull;
  int line = 1;                       // counted from 1
  std::string key = {};               // of a member of an object
  std::int64_t integer = 0;           // kInteger; kBool: 0 or 1
  std::string text = {};              // kText; kNumber: as written
  std::vector<JsonValue> items = {};  // kList; kObject: in the order of the file, each key once

  /// The member of that key, or nullptr.
  const JsonValue* Find(std::string_view member) const;
};

/// What stands there, for messages: "'abc'", "3", "a list", "an object".
std::string Describe(const JsonValue& value);

/// \error kInvalidArgument `FILE:LINE: …` for text that is not JSON, a key twice in an object, and
///     more than 64 nested lists and objects or keys of one object.
Result<JsonValue> ParseJsonText(const NamedText& file);

/// One object of a file, read member by member.
class ObjectReader {
 public:
  /// `what` is the object's name in messages, with its article: "a tensor".
  /// \error if `value` is no object or has a key that is not in `keys`
  static Result<ObjectReader> Make(const NamedText& file, const JsonValue& value,
                                   std::string_view what,
                                   std::initializer_list<std::string_view> keys);

  /// \error if there is none
  Result<const JsonValue*> Member(std::string_view key) const;
  const JsonValue* Find(std::string_view key) const { return value_->Find(key); }
  Result<std::string> Text(std::string_view key) const;
  Result<std::int64_t> Integer(std::string_view key) const;
  Result<std::vector<std::int64_t>> Integers(std::string_view key) const;
  /// The items of a list. \pre as Member
  Result<const std::vector<JsonValue>*> List(std::string_view key) const;

  /// `FILE:LINE: message`, of `value` or of the object itself.
  Error At(const JsonValue& value, std::string_view message) const;
  Error At(std::string_view message) const { return At(*value_, message); }
  /// `FILE:LINE: 'key' is EXPECTED, not FOUND`.
  Error Expected(const JsonValue& value, std::string_view expected) const;

 private:
  ObjectReader(const NamedText& file, const JsonValue& value, std::string_view what)
      : file_(&file), value_(&value), what_(what) {}
  const NamedText* file_;
  const JsonValue* value_;
  std::string_view what_;
};

}  // namespace tessera::ptc
