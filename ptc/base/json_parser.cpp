// SPDX-License-Identifier: Apache-2.0
/// \file
/// Parses JSON into values with their lines. nlohmann::json and its exceptions stay in this file.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "ptc/base/json_items.h"
#include "ptc/base/json_reader.h"
#include "ptc/base/utf8.h"

namespace tessera {
namespace {

constexpr std::size_t kMaxJsonDepth = 64;
constexpr std::size_t kMaxJsonKeys = 64;

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

  /// \param items nullptr: all lists are kept
  JsonTreeBuilder(const NamedText& file, std::size_t max_keys, const JsonItems* items,
                  const char* const* reached)
      : file_(file),
        max_keys_(max_keys),
        items_(items),
        counted_(file.text.data()),
        reached_(reached) {}

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
    PassOn();
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
    PassOn();
    return true;
  }
  /// Gives away the value that has just been completed if it is one of the items.
  void PassOn() {
    if (items_ == nullptr || open_.size() != 2) return;
    JsonValue& list = *open_.back();
    if (list.kind != Kind::kList || list.key != items_->key) return;
    items_->take(list.items.back());
    list.items.clear();
  }

  const NamedText& file_;
  const std::size_t max_keys_;
  const JsonItems* items_;
  const char* counted_;  // the line breaks before this are counted
  const char* const* reached_;
  int line_ = 1;
  std::vector<JsonValue*> open_;
  std::string key_;
};

Result<JsonValue> ParseText(const NamedText& file, std::size_t max_keys, const JsonItems* items) {
  const char* begin = file.text.data();
  const char* reached = begin;
  // nlohmann takes a zero byte for the end of the text and ignores what follows it.
  if (const std::size_t zero = file.text.find('\0'); zero != std::string::npos) {
    return InvalidArgument(
        fmt::format("{}zero byte at offset {}",
                    JsonPosition(file, 1 + std::count(begin, begin + zero, '\n')), zero));
  }
  JsonTreeBuilder builder(file, max_keys, items, &reached);
  const CountingIterator first(begin, &reached);
  const CountingIterator last(begin + file.text.size(), &reached);
  if (!nlohmann::json::sax_parse(first, last, &builder)) return std::move(builder.error);
  return std::move(builder.root);
}

}  // namespace

std::string JsonPosition(const NamedText& file, std::int64_t line) {
  return file.name.empty() ? std::string() : fmt::format("{}:{}: ", file.name, line);
}

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
  return ParseText(file, max_keys, nullptr);
}

Result<JsonValue> ParseJsonItems(const NamedText& file, const JsonItems& items) {
  return ParseText(file, kMaxJsonKeys, &items);
}

std::string JsonQuoted(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace tessera
