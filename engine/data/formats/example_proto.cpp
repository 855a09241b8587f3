// SPDX-License-Identifier: Apache-2.0
#include "engine/data/formats/example_proto.h"

#include <algorithm>
#include <cstdint>

namespace tessera::engine {
namespace {

using Bytes = std::span<const std::byte>;

/// Iterates over the fields of a message.
class Fields {
 public:
  explicit Fields(Bytes message) : left_(message) {}

  /// Steps to the next field.
  /// \return false at the end or where the message is damaged
  bool Next() {
    if (left_.empty()) return false;
    const auto key = Varint();
    if (!key) return false;
    number_ = *key >> 3;
    switch (*key & 7) {
      case 0:
        value_ = {};
        return Varint().has_value();
      case 1:
        return Take(8);
      case 2: {
        const auto size = Varint();
        return size && Take(*size);
      }
      case 5:
        return Take(4);
      default:
        return Damaged();
    }
  }
  bool is_damaged() const { return is_damaged_; }
  std::uint64_t number() const { return number_; }
  Bytes value() const { return value_; }  // empty of a number

 private:
  bool Damaged() {
    is_damaged_ = true;
    return false;
  }
  bool Take(std::uint64_t size) {
    if (size > left_.size()) return Damaged();
    value_ = left_.first(static_cast<std::size_t>(size));
    left_ = left_.subspan(static_cast<std::size_t>(size));
    return true;
  }
  std::optional<std::uint64_t> Varint() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64 && !left_.empty(); shift += 7) {
      const auto byte = std::to_integer<std::uint64_t>(left_.front());
      left_ = left_.subspan(1);
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    Damaged();
    return std::nullopt;
  }

  Bytes left_, value_;
  std::uint64_t number_ = 0;
  bool is_damaged_ = false;
};

/// Returns the last field `number`, as Protocol Buffers do. nullopt if there is none or `message`
/// is damaged.
std::optional<Bytes> Field(Bytes message, std::uint64_t number) {
  Fields fields(message);
  std::optional<Bytes> found;
  while (fields.Next()) {
    if (fields.number() == number) found = fields.value();
  }
  return fields.is_damaged() ? std::nullopt : found;
}

bool Equal(Bytes bytes, std::string_view text) {
  return std::ranges::equal(bytes, std::as_bytes(std::span(text)));
}

}  // namespace

bool IsExample(Bytes message) {
  const auto features = Field(message, 1);
  if (!features) return false;
  bool has_feature = false;
  Fields entries(*features);
  while (entries.Next()) {
    has_feature = has_feature ||
                  (entries.number() == 1 && Field(entries.value(), 1) && Field(entries.value(), 2));
  }
  return has_feature && !entries.is_damaged();
}

std::optional<Bytes> BytesFeature(Bytes message, std::string_view name) {
  const auto features = Field(message, 1);
  if (!features) return std::nullopt;
  std::optional<Bytes> found;
  Fields entries(*features);
  while (entries.Next()) {
    if (entries.number() != 1) continue;
    const auto key = Field(entries.value(), 1);
    const auto feature = Field(entries.value(), 2);
    if (!key || !feature || !Equal(*key, name)) continue;
    const auto list = Field(*feature, 1);
    if (!list) continue;
    Fields values(*list);
    while (values.Next()) {
      if (values.number() != 1) continue;
      found = values.value();
      break;
    }
  }
  return entries.is_damaged() ? std::nullopt : found;
}

}  // namespace tessera::engine
