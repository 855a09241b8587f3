// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The texts of an enum whose values count from 0.

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace tessera {

template <typename Enum, std::size_t kCount>
class EnumNames {
 public:
  /// One name for each value up to `last`, in the order of the enum; else it does not compile.
  consteval EnumNames(Enum last, const std::string_view (&names)[kCount]) {
    if (static_cast<std::size_t>(last) + 1 != kCount) throw "a name for each value";
    std::copy(names, names + kCount, names_.begin());
  }

  constexpr std::string_view Of(Enum value) const {
    const auto index = static_cast<std::size_t>(value);
    return index < kCount ? names_[index] : "unknown";
  }
  constexpr std::optional<Enum> Find(std::string_view name) const {
    const auto found = std::find(names_.begin(), names_.end(), name);
    if (found == names_.end()) return std::nullopt;
    return static_cast<Enum>(found - names_.begin());
  }
  /// "a|b|c" with the separator "|".
  std::string Joined(std::string_view separator) const {
    std::string all;
    for (const std::string_view name : names_) {
      if (!all.empty()) all += separator;
      all += name;
    }
    return all;
  }

 private:
  std::array<std::string_view, kCount> names_;
};

}  // namespace tessera
