// SPDX-License-Identifier: Apache-2.0
#include "tests/support/random_message.h"

#include <google/protobuf/descriptor.h>

#include <limits>

namespace tessera::test {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

constexpr int kMostDepth = 5;

class Filler {
 public:
  Filler(std::mt19937_64& random, const std::vector<std::string>& words)
      : random_(random), words_(words) {}

  void Fill(Message& message, int depth) {
    const auto* const type = message.GetDescriptor();
    for (int i = 0; i < type->field_count(); ++i) {
      if (random_() % 2 == 0) Set(message, type->field(i), depth);
    }
  }

  void Set(Message& message, const FieldDescriptor* field, int depth) {
    const bool is_message = field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE;
    if (is_message && depth >= kMostDepth) return;
    const auto* const fields = message.GetReflection();
    if (!field->is_repeated()) {
      if (is_message) return Fill(*fields->MutableMessage(&message, field), depth + 1);
      return SetValue(message, field, false);
    }
    for (auto count = random_() % 4; count > 0; --count) {
      if (is_message) {
        Fill(*fields->AddMessage(&message, field), depth + 1);
      } else {
        SetValue(message, field, true);
      }
    }
  }

 private:
  template <typename T>
  T Number() {
    switch (random_() % 8) {
      case 0:
        return std::numeric_limits<T>::max();
      case 1:
        return std::numeric_limits<T>::lowest();
      case 2:
        return static_cast<T>(random_());
      default:
        return static_cast<T>(random_() % 9);
    }
  }
  int EnumValue(const google::protobuf::EnumDescriptor& type) {
    if (random_() % 16 == 0) return Number<std::int32_t>();
    const auto which = random_() % static_cast<std::uint64_t>(type.value_count());
    return type.value(static_cast<int>(which))->number();
  }
  std::string Text() {
    const auto which = random_() % (words_.size() + 2);
    if (which < words_.size()) return words_[which];
    std::string text(which == words_.size() ? random_() % 8 : random_() % 2000, '\0');
    for (char& c : text) c = static_cast<char>('a' + random_() % 26);
    return text;
  }
  void SetValue(Message& message, const FieldDescriptor* field, bool add) {
    const auto* const fields = message.GetReflection();
    const auto put = [&](auto set, auto append, auto value) {
      if (add) {
        (fields->*append)(&message, field, std::move(value));
      } else {
        (fields->*set)(&message, field, std::move(value));
      }
    };
    using R = google::protobuf::Reflection;
    switch (field->cpp_type()) {
      case FieldDescriptor::CPPTYPE_INT32:
        return put(&R::SetInt32, &R::AddInt32, Number<std::int32_t>());
      case FieldDescriptor::CPPTYPE_INT64:
        return put(&R::SetInt64, &R::AddInt64, Number<std::int64_t>());
      case FieldDescriptor::CPPTYPE_UINT32:
        return put(&R::SetUInt32, &R::AddUInt32, Number<std::uint32_t>());
      case FieldDescriptor::CPPTYPE_UINT64:
        return put(&R::SetUInt64, &R::AddUInt64, Number<std::uint64_t>());
      case FieldDescriptor::CPPTYPE_DOUBLE:
        return put(&R::SetDouble, &R::AddDouble, Number<double>());
      case FieldDescriptor::CPPTYPE_FLOAT:
        return put(&R::SetFloat, &R::AddFloat, Number<float>());
      case FieldDescriptor::CPPTYPE_BOOL:
        return put(&R::SetBool, &R::AddBool, random_() % 2 == 0);
      case FieldDescriptor::CPPTYPE_ENUM:
        return put(&R::SetEnumValue, &R::AddEnumValue, EnumValue(*field->enum_type()));
      case FieldDescriptor::CPPTYPE_STRING:
        return put(&R::SetString, &R::AddString, Text());
      case FieldDescriptor::CPPTYPE_MESSAGE:
        return;
    }
  }

  std::mt19937_64& random_;
  const std::vector<std::string>& words_;
};

}  // namespace

void FillAtRandom(Message& message, std::mt19937_64& random,
                  const std::vector<std::string>& words) {
  Filler(random, words).Fill(message, 0);
}

std::vector<const FieldDescriptor*> KindsOf(const Message& message) {
  const auto* const body = message.GetDescriptor()->FindOneofByName("body");
  std::vector<const FieldDescriptor*> kinds;
  for (int i = 0; body != nullptr && i < body->field_count(); ++i) kinds.push_back(body->field(i));
  return kinds;
}

void FillKind(Message& message, const FieldDescriptor* kind, std::mt19937_64& random,
              const std::vector<std::string>& words) {
  Filler(random, words).Fill(*message.GetReflection()->MutableMessage(&message, kind), 1);
}

}  // namespace tessera::test
