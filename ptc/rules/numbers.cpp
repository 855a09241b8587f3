// SPDX-License-Identifier: Apache-2.0
#include "ptc/rules/numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

namespace tessera::ptc {
namespace {

bool IsName(std::string_view text) {
  const auto is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  return !text.empty() && text.size() <= 40 && std::all_of(text.begin(), text.end(), is_letter);
}

std::optional<std::int64_t> Digits(std::string_view text) {
  std::int64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (text.empty() || text.front() == '-' || stop != end || error != std::errc()) return {};
  return number;
}

}  // namespace

Result<Values> ReadValues(const NamedText& file, const JsonReader& tensors_file) {
  Values values{file.name, {}};
  const JsonValue* section = tensors_file.Find("values");
  if (section == nullptr) return values;
  if (section->kind != JsonValue::Kind::kObject) {
    return tensors_file.Expected(*section, "an object of numbers");
  }
  for (const JsonValue& item : section->items) {
    if (!IsName(item.key)) {
      return tensors_file.At(item, "the name of a value must have 1 to 40 letters, digits and '_'");
    }
    if (item.kind != JsonValue::Kind::kInteger || item.integer < 0) {
      return tensors_file.Expected(item, "a whole number from 0");
    }
    values.by_name.emplace(item.key, item.integer);
  }
  return values;
}

Result<std::int64_t> ValueOf(const JsonReader& reader, const JsonValue& at, std::string_view name,
                             const Values& values) {
  if (const auto it = values.by_name.find(name); it != values.by_name.end()) return it->second;
  std::string known;
  for (const auto& [has, number] : values.by_name) known += (known.empty() ? "" : ", ") + has;
  return reader.At(at, fmt::format("'values' of {} has no '{}', {}", values.file, name,
                                   known.empty() ? "it is empty" : "only " + known));
}

Result<std::int64_t> ReadNumber(const JsonReader& reader, const JsonValue& value,
                                std::string_view key, const Values& values) {
  if (value.kind == JsonValue::Kind::kInteger) return value.integer;
  const auto bad = [&] {
    return reader.At(value, fmt::format("'{}' must be a whole number or a product such as "
                                        "'3*$width', "
                                        "not {}",
                                        key, Describe(value)));
  };
  if (value.kind != JsonValue::Kind::kText) return bad();
  std::int64_t product = 1;
  std::string_view rest = value.text;
  while (true) {
    const std::size_t star = rest.find('*');
    const std::string_view factor = rest.substr(0, star);
    std::int64_t number = 0;
    if (factor.starts_with('$') && IsName(factor.substr(1))) {
      TESSERA_TRY(number, ValueOf(reader, value, factor.substr(1), values));
    } else if (const auto digits = Digits(factor)) {
      number = *digits;
    } else {
      return bad();
    }
    if (__builtin_mul_overflow(product, number, &product)) {
      return reader.At(value, fmt::format("'{}' = {} leaves 64 bits", key, Describe(value)));
    }
    if (star == std::string_view::npos) return product;
    rest.remove_prefix(star + 1);
  }
}

Result<std::int64_t> ReadNumber(const JsonReader& reader, std::string_view key,
                                const Values& values) {
  TESSERA_TRY(const JsonValue* value, reader.Member(key));
  return ReadNumber(reader, *value, key, values);
}

Result<std::vector<std::int64_t>> ReadNumbers(const JsonReader& reader, std::string_view key,
                                              const Values& values) {
  TESSERA_TRY(const auto* items, reader.List(key));
  std::vector<std::int64_t> numbers;
  for (const JsonValue& item : *items) {
    if (item.kind != JsonValue::Kind::kInteger && item.kind != JsonValue::Kind::kText) {
      return reader.At(item, fmt::format("'{}' must be a list of whole numbers, not of {}", key,
                                         Describe(item)));
    }
    TESSERA_TRY(const std::int64_t number, ReadNumber(reader, item, key, values));
    numbers.push_back(number);
  }
  return numbers;
}

}  // namespace tessera::ptc
