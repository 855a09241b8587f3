// SPDX-License-Identifier: Apache-2.0
#include "ptc/rules/json_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>

namespace tessera::ptc {
namespace {

using Json = nlohmann::json;
using Kind = JsonValue::Kind;

constexpr std::size_t kMaxDepth = 64;
constexpr std::size_t kMaxMembers = 64;  // no object of ours has more than a few

/// Walks over the text and leaves behind how far the parser has read.
class Position {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  Position(const char* at, const char** reached) : at_(at), reached_(reached) {}
  const char& operator*() const { return *at_; }
  Position& operator++() {
    *reached_ = ++at_;
    return *this;
  }
  Position operator++(int) {
    const Position before = *this;
    ++*this;
    return before;
  }
  friend bool operator==(const Position& a, const Position& b) { return a.at_ == b.at_; }

 private:
  const char* at_;
  const char** reached_;
};

/// Text from outside, fit for a message of one line: printable ASCII, and not much of it.
std::string Printable(std::string_view text) {
  constexpr std::size_t kMost = 40;
  std::string out;
  for (char c : text.substr(0, kMost)) out += c >= ' ' && c <= '~' ? c : '?';
  return text.size() > kMost ? out + "…" : out;
}

/// Builds the tree; nlohmann calls these as it reads, each right after the last character of its
/// token, after a number one later.
class TreeBuilder : public nlohmann::json_sax<Json> {
 public:
  TreeBuilder(const NamedText& file, const char* const* reached)
      : file_(file), counted_(file.text.data()), reached_(reached) {}

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
  bool string(string_t& text) override { return Add({.kind = Kind::kText, .text = text}); }
  bool binary(binary_t& /*value*/) override { return false; }
  bool start_object(std::size_t /*size*/) override { return Open(Kind::kObject); }
  bool start_array(std::size_t /*size*/) override { return Open(Kind::kList); }
  bool end_object() override { return Close(); }
  bool end_array() override { return Close(); }
  bool key(string_t& text) override {
    if (open_.back()->Find(text) != nullptr) {
      return Refuse(fmt::format("key '{}' stands twice in an object", Printable(text)));
    }
    if (open_.back()->items.size() == kMaxMembers) {
      return Refuse(fmt::format("more than {} keys in an object", kMaxMembers));
    }
    key_ = text;
    return true;
  }
  bool parse_error(std::size_t /*position*/, const std::string& /*last_token*/,
                   const Json::exception& exception) override {
    const bool ends = std::string_view(exception.what()).find("end of input") != std::string::npos;
    return Refuse(ends ? "not json: the text ends too early"
                       : fmt::format("not json at '{}'", Printable(LastWord())));
  }

  JsonValue root;
  Error error;

 private:
  /// Line of the last character read, bar a line break behind a number.
  int Line() {
    const char* end = *reached_;
    if (end != counted_ && end[-1] == '\n') --end;
    line_ += static_cast<int>(std::count(counted_, end, '\n'));
    counted_ = end;
    return line_;
  }

  /// What the parser read last, back to the white space before it.
  std::string_view LastWord() const {
    constexpr std::string_view kSpace = " \t\r\n";
    std::string_view read(file_.text.data(),
                          static_cast<std::size_t>(*reached_ - file_.text.data()));
    read = read.substr(0, read.find_last_not_of(kSpace) + 1);
    return read.substr(read.find_last_of(kSpace) + 1);
  }

  bool Refuse(std::string_view message) {
    error = InvalidArgument(fmt::format("{}:{}: {}", file_.name, Line(), message));
    return false;
  }

  /// Pointers to open values stay good: a list grows only while all in it are closed.
  JsonValue& Append(JsonValue value) {
    value.line = Line();
    if (open_.empty()) {
      root = std::move(value);
      return root;
    }
    if (open_.back()->kind == Kind::kObject) value.key = key_;
    return open_.back()->items.emplace_back(std::move(value));
  }
  bool Add(JsonValue value) {
    Append(std::move(value));
    return true;
  }
  bool Open(Kind kind) {
    if (open_.size() == kMaxDepth) {
      return Refuse(fmt::format("more than {} nested lists and objects", kMaxDepth));
    }
    open_.push_back(&Append({.kind = kind}));
    return true;
  }
  bool Close() {
    open_.pop_back();
    return true;
  }

  const NamedText& file_;
  const char* counted_;  // lines are counted up to here
  const char* const* reached_;
  int line_ = 1;
  std::vector<JsonValue*> open_;
  std::string key_;
};

}  // namespace

std::string Describe(const JsonValue& value) {
  switch (value.kind) {
    case Kind::kNull:
      return "null";
    case Kind::kBool:
      return value.integer != 0 ? "true" : "false";
    case Kind::kInteger:
      return fmt::format("{}", value.integer);
    case Kind::kNumber:
      return Printable(value.text);
    case Kind::kText:
      return fmt::format("'{}'", Printable(value.text));
    case Kind::kList:
      return "a list";
    case Kind::kObject:
      return "an object";
  }
  return {};
}

const JsonValue* JsonValue::Find(std::string_view member) const {
  const auto it = std::find_if(items.begin(), items.end(),
                               [member](const JsonValue& item) { return item.key == member; });
  return kind == Kind::kObject && it != items.end() ? &*it : nullptr;
}

Result<JsonValue> ParseJsonText(const NamedText& file) {
  const char* begin = file.text.data();
  const char* reached = begin;
  // nlohmann takes a zero byte for the end and would not look at what follows.
  if (const std::size_t zero = file.text.find('\0'); zero != std::string::npos) {
    return InvalidArgument(fmt::format("{}:{}: a zero byte, which no text has", file.name,
                                       1 + std::count(begin, begin + zero, '\n')));
  }
  TreeBuilder builder(file, &reached);
  const Position first(begin, &reached);
  const Position last(begin + file.text.size(), &reached);
  if (!Json::sax_parse(first, last, &builder)) return std::move(builder.error);
  return std::move(builder.root);
}

Result<ObjectReader> ObjectReader::Make(const NamedText& file, const JsonValue& value,
                                        std::string_view what,
                                        std::initializer_list<std::string_view> keys) {
  const ObjectReader reader(file, value, what);
  const std::string has = fmt::format("{} has {}", what, fmt::join(keys, ", "));
  if (value.kind != Kind::kObject) {
    return reader.At(fmt::format("expected an object, not {}: {}", Describe(value), has));
  }
  for (const JsonValue& item : value.items) {
    if (std::find(keys.begin(), keys.end(), item.key) == keys.end()) {
      return reader.At(item, fmt::format("unknown key '{}', {}", Printable(item.key), has));
    }
  }
  return reader;
}

Result<const JsonValue*> ObjectReader::Member(std::string_view key) const {
  const JsonValue* value = Find(key);
  if (value == nullptr) return At(fmt::format("{} needs '{}'", what_, key));
  return value;
}

Result<std::string> ObjectReader::Text(std::string_view key) const {
  TESSERA_TRY(const JsonValue* value, Member(key));
  if (value->kind != Kind::kText) return Expected(*value, "a text");
  return value->text;
}

Result<std::int64_t> ObjectReader::Integer(std::string_view key) const {
  TESSERA_TRY(const JsonValue* value, Member(key));
  if (value->kind != Kind::kInteger) return Expected(*value, "a whole number");
  return value->integer;
}

Result<std::vector<std::int64_t>> ObjectReader::Integers(std::string_view key) const {
  TESSERA_TRY(const auto* items, List(key));
  std::vector<std::int64_t> numbers;
  for (const JsonValue& item : *items) {
    if (item.kind != Kind::kInteger) {
      return At(item,
                fmt::format("'{}' is a list of whole numbers, not of {}", key, Describe(item)));
    }
    numbers.push_back(item.integer);
  }
  return numbers;
}

Result<const std::vector<JsonValue>*> ObjectReader::List(std::string_view key) const {
  TESSERA_TRY(const JsonValue* value, Member(key));
  if (value->kind != Kind::kList) return Expected(*value, "a list");
  return &value->items;
}

Error ObjectReader::At(const JsonValue& value, std::string_view message) const {
  return InvalidArgument(fmt::format("{}:{}: {}", file_->name, value.line, message));
}

Error ObjectReader::Expected(const JsonValue& value, std::string_view expected) const {
  return At(value, fmt::format("'{}' is {}, not {}", value.key, expected, Describe(value)));
}

}  // namespace tessera::ptc
