// SPDX-License-Identifier: Apache-2.0
#include "ptc/base/json_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <system_error>

#include "ptc/base/utf8.h"

namespace tessera {
namespace {

std::optional<double> NumberOf(const JsonValue& value) {
  if (value.kind == JsonValue::Kind::kInteger) return static_cast<double>(value.integer);
  if (value.kind != JsonValue::Kind::kNumber) return std::nullopt;
  double number = 0;
  const char* end = value.text.data() + value.text.size();
  const auto [stop, error] = std::from_chars(value.text.data(), end, number);
  if (stop != end || error != std::errc()) return std::nullopt;
  return number;
}

}  // namespace

Result<JsonReader> JsonReader::Make(const NamedText& file, const JsonValue& value,
                                    std::string_view what,
                                    std::initializer_list<std::string_view> keys) {
  const JsonReader reader(file, value, what);
  const auto has = [&] { return fmt::format("{} has {}", what, fmt::join(keys, ", ")); };
  if (value.kind != JsonValue::Kind::kObject) {
    return reader.At(fmt::format("expected an object, not {}: {}", Describe(value), has()));
  }
  for (const JsonValue& item : value.items) {
    if (std::find(keys.begin(), keys.end(), item.key) == keys.end()) {
      return reader.At(item, fmt::format("unknown key '{}', {}", Escaped(item.key), has()));
    }
  }
  return reader;
}

Result<const JsonValue*> JsonReader::Member(std::string_view key) const {
  const JsonValue* value = Find(key);
  if (value == nullptr) return At(fmt::format("{} needs '{}'", what_, key));
  return value;
}

Result<std::string> JsonReader::Text(std::string_view key) const {
  TESSERA_TRY(const JsonValue* value, Member(key));
  if (value->kind != JsonValue::Kind::kText) return Expected(*value, "a text");
  return value->text;
}

Result<bool> JsonReader::Bool(std::string_view key) const {
  TESSERA_TRY(const JsonValue* value, Member(key));
  if (value->kind != JsonValue::Kind::kBool) return Expected(*value, "true or false");
  return value->integer != 0;
}

Result<std::int64_t> JsonReader::Integer(std::string_view key, std::int64_t low,
                                         std::int64_t high) const {
  TESSERA_TRY(const JsonValue* value, Member(key));
  const bool is_integer = value->kind == JsonValue::Kind::kInteger;
  if (is_integer && value->integer >= low && value->integer <= high) return value->integer;
  if (low == kLowest && high == kHighest) return Expected(*value, "a whole number");
  if (high == kHighest) return Expected(*value, fmt::format("a whole number from {}", low));
  return Expected(*value, fmt::format("a whole number in {}..{}", low, high));
}

Result<double> JsonReader::Real(std::string_view key, double low, double high) const {
  TESSERA_TRY(const JsonValue* value, Member(key));
  const std::optional<double> number = NumberOf(*value);
  if (number && *number >= low && *number <= high) return *number;
  return Expected(*value, fmt::format("a number in {}..{}", low, high));
}

Result<const std::vector<JsonValue>*> JsonReader::List(std::string_view key) const {
  TESSERA_TRY(const JsonValue* value, Member(key));
  if (value->kind != JsonValue::Kind::kList) return Expected(*value, "a list");
  return &value->items;
}

Result<std::vector<std::int64_t>> JsonReader::Integers(std::string_view key) const {
  TESSERA_TRY(const auto* items, List(key));
  std::vector<std::int64_t> numbers;
  numbers.reserve(items->size());
  for (const JsonValue& item : *items) {
    if (item.kind != JsonValue::Kind::kInteger) {
      return At(item, fmt::format("'{}' must be a list of whole numbers, not of {}", key,
                                  Describe(item)));
    }
    numbers.push_back(item.integer);
  }
  return numbers;
}

Result<std::vector<std::string>> JsonReader::Texts(std::string_view key) const {
  TESSERA_TRY(const auto* items, List(key));
  std::vector<std::string> texts;
  texts.reserve(items->size());
  for (const JsonValue& item : *items) {
    if (item.kind != JsonValue::Kind::kText) {
      return At(item, fmt::format("'{}' must be a list of texts, not of {}", key, Describe(item)));
    }
    texts.push_back(item.text);
  }
  return texts;
}

Status JsonReader::Optional(std::string_view key, std::string& out) const {
  if (Find(key) == nullptr) return OkStatus();
  TESSERA_TRY(out, Text(key));
  return OkStatus();
}

Status JsonReader::Optional(std::string_view key, bool& out) const {
  if (Find(key) == nullptr) return OkStatus();
  TESSERA_TRY(out, Bool(key));
  return OkStatus();
}

Status JsonReader::Optional(std::string_view key, std::int64_t& out, std::int64_t low,
                            std::int64_t high) const {
  if (Find(key) == nullptr) return OkStatus();
  TESSERA_TRY(out, Integer(key, low, high));
  return OkStatus();
}

Status JsonReader::Optional(std::string_view key, double& out, double low, double high) const {
  if (Find(key) == nullptr) return OkStatus();
  TESSERA_TRY(out, Real(key, low, high));
  return OkStatus();
}

Status JsonReader::Optional(std::string_view key, std::vector<std::string>& out) const {
  if (Find(key) == nullptr) return OkStatus();
  TESSERA_TRY(out, Texts(key));
  return OkStatus();
}

Error JsonReader::At(const JsonValue& value, std::string_view message) const {
  return InvalidArgument(JsonPosition(*file_, value.line) + std::string(message));
}

Error JsonReader::Expected(const JsonValue& value, std::string_view expected) const {
  return At(value, fmt::format("'{}' must be {}, not {}", value.key, expected, Describe(value)));
}

}  // namespace tessera
