// SPDX-License-Identifier: Apache-2.0
#include "ptc/base/json_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "ptc/base/utf8.h"

namespace tessera {
namespace {

constexpr std::size_t kMaxJsonDepth = 64;

/// "FILE:LINE: ", or nothing for a text without a name.
std::string JsonPosition(const NamedText& file, std::ptrdiff_t line) {
  return file.name.empty() ? std::string() : fmt::format("{}:{}: ", file.name, line);
}

/// Iterates over the text and stores in `reached` how far the parser has read.
class CountingIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CountingIterator(const char* at, const char** reached) : at_(at), reached_(reached) {}
  const char& operator*() const { return *at_; }
  CountingIterator& operator++() {
    *reached_ = ++at_;
    return *this;
  }
  CountingIterator operator++(int) {
    const CountingIterator before = *this;
    ++*this;
    return before;
  }
  friend bool operator==(const CountingIterator& a, const CountingIterator& b) {
    return a.at_ == b.at_;
  }

 private:
  const char* at_;
  const char** reached_;
};

/// Builds the tree from the parser's events. The parser sends each event right after the last
/// character of the token; after a number it has read one character more.
class JsonTreeBuilder : public nlohmann::json_sax<nlohmann::json> {
 public:
  using Kind = JsonValue::Kind;

  JsonTreeBuilder(const NamedText& file, std::size_t max_keys, const char* const* reached)
      : file_(file), max_keys_(max_keys), counted_(file.text.data()), reached_(reached) {}

  bool null() override { return Add({.kind = Kind::kNull}); }
  bool boolean(bool value) override { return Add({.kind = Kind::kBool, .integer = value}); }
  bool number_integer(number_integer_t value) override {
    return Add({.kind = Kind::kInteger, .integer = value});
  }
  bool number_unsigned(number_unsigned_t value) override {
    if (value > std::uint64_t{std::numeric_limits<std::int64_t>::max()}) {
      return Add({.kind = Kind::kNumber, .text = fmt::format("{}", value)});
    }
    return number_integer(static_cast<std::int64_t>(value));
  }
  bool number_float(number_float_t /*value*/, const string_t& text) override {
    return Add({.kind = Kind::kNumber, .text = text});
  }
  bool string(string_t& text) override {
    return Add({.kind = Kind::kText, .text = std::move(text)});
  }
  bool binary(binary_t& /*value*/) override { return false; }
  bool start_object(std::size_t /*size*/) override { return Open(Kind::kObject); }
  bool start_array(std::size_t /*size*/) override { return Open(Kind::kList); }
  bool end_object() override { return Close(); }
  bool end_array() override { return Close(); }
  bool key(string_t& text) override {
    if (open_.back()->Find(text) != nullptr) {
      return Refuse(fmt::format("key '{}' appears twice in an object", Escaped(text)));
    }
    if (open_.back()->items.size() == max_keys_) {
      return Refuse(fmt::format("more than {} keys in an object", max_keys_));
    }
    key_ = std::move(text);
    return true;
  }
  bool parse_error(std::size_t position, const std::string& /*last_token*/,
                   const nlohmann::json::exception& exception) override {
    if (file_.name.empty()) return Refuse(fmt::format("not json at byte {}", position));
    const bool ends = std::string_view(exception.what()).find("end of input") != std::string::npos;
    return Refuse(ends ? "not json: the text ends too early"
                       : fmt::format("not json at '{}'", Escaped(LastWord())));
  }

  JsonValue root;
  Error error;

 private:
  /// Line of the last character read. A line break after a number does not count.
  int Line() {
    const char* end = *reached_;
    if (end != counted_ && end[-1] == '\n') --end;
    line_ += static_cast<int>(std::count(counted_, end, '\n'));
    counted_ = end;
    return line_;
  }

  /// What the parser has read since the last white space.
  std::string_view LastWord() const {
    constexpr std::string_view kSpace = " \t\r\n";
    std::string_view read(file_.text.data(),
                          static_cast<std::size_t>(*reached_ - file_.text.data()));
    read = read.substr(0, read.find_last_not_of(kSpace) + 1);
    return read.substr(read.find_last_of(kSpace) + 1);
  }

  bool Refuse(std::string_view message) {
    error = InvalidArgument(JsonPosition(file_, Line()) + std::string(message));
    return false;
  }

  /// Pointers to open values stay valid: a list grows only while all values in it are closed.
  JsonValue& Append(JsonValue value) {
    value.line = Line();
    if (open_.empty()) {
      root = std::move(value);
      return root;
    }
    if (open_.back()->kind == Kind::kObject) value.key = std::move(key_);
    return open_.back()->items.emplace_back(std::move(value));
  }
  bool Add(JsonValue value) {
    Append(std::move(value));
    return true;
  }
  bool Open(Kind kind) {
    if (open_.size() == kMaxJsonDepth) {
      return Refuse(fmt::format("more than {} nested lists and objects", kMaxJsonDepth));
    }
    open_.push_back(&Append({.kind = kind}));
    return true;
  }
  bool Close() {
    open_.pop_back();
    return true;
  }

  const NamedText& file_;
  const std::size_t max_keys_;
  const char* counted_;  // the line breaks before this are counted
  const char* const* reached_;
  int line_ = 1;
  std::vector<JsonValue*> open_;
  std::string key_;
};

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

std::string Describe(const JsonValue& value) {
  switch (value.kind) {
    case JsonValue::Kind::kNull:
      return "null";
    case JsonValue::Kind::kBool:
      return value.integer != 0 ? "true" : "false";
    case JsonValue::Kind::kInteger:
      return fmt::format("{}", value.integer);
    case JsonValue::Kind::kNumber:
      return Escaped(value.text);
    case JsonValue::Kind::kText:
      return fmt::format("'{}'", Escaped(value.text));
    case JsonValue::Kind::kList:
      return "a list";
    case JsonValue::Kind::kObject:
      return "an object";
  }
  return {};
}

const JsonValue* JsonValue::Find(std::string_view member) const {
  if (kind != Kind::kObject) return nullptr;
  const auto it = std::find_if(items.begin(), items.end(),
                               [member](const JsonValue& item) { return item.key == member; });
  return it != items.end() ? &*it : nullptr;
}

Result<JsonValue> ParseJson(const NamedText& file, std::size_t max_keys) {
  const char* begin = file.text.data();
  const char* reached = begin;
  // nlohmann takes a zero byte for the end of the text and ignores what follows it.
  if (const std::size_t zero = file.text.find('\0'); zero != std::string::npos) {
    return InvalidArgument(
        fmt::format("{}zero byte at offset {}",
                    JsonPosition(file, 1 + std::count(begin, begin + zero, '\n')), zero));
  }
  JsonTreeBuilder builder(file, max_keys, &reached);
  const CountingIterator first(begin, &reached);
  const CountingIterator last(begin + file.text.size(), &reached);
  if (!nlohmann::json::sax_parse(first, last, &builder)) return std::move(builder.error);
  return std::move(builder.root);
}

std::string JsonQuoted(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

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
