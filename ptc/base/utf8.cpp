// SPDX-License-Identifier: Apache-2.0
#include "ptc/base/utf8.h"

#include <fmt/format.h>

namespace tessera {

std::size_t Utf8Length(std::string_view text) {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
  };
  const auto follows = [&](std::size_t i) { return (byte(i) & 0xc0U) == 0x80U; };
  const unsigned first = byte(0);
  if (first < 0x80) return text.empty() ? 0 : 1;
  if (first >= 0xc2 && first <= 0xdf && follows(1)) return 2;
  if (first >= 0xe0 && first <= 0xef && follows(1) && follows(2)) {
    const bool overlong = first == 0xe0 && byte(1) < 0xa0;
    const bool surrogate = first == 0xed && byte(1) > 0x9f;
    return overlong || surrogate ? 0 : 3;
  }
  if (first >= 0xf0 && first <= 0xf4 && follows(1) && follows(2) && follows(3)) {
    const bool overlong = first == 0xf0 && byte(1) < 0x90;
    const bool beyond = first == 0xf4 && byte(1) > 0x8f;
    return overlong || beyond ? 0 : 4;
  }
  return 0;
}

bool IsPrintableUtf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = Utf8Length(text);
    const auto first = static_cast<unsigned char>(text[0]);
    if (length == 0 || first < 0x20 || first == 0x7f) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string Escaped(std::string_view text) {
  constexpr std::size_t kMostBytes = 80;
  std::string line;
  for (const char c : text.substr(0, kMostBytes)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte >= 0x7f) {
      line += fmt::format("\\x{:02x}", byte);
    } else {
      line += c;
    }
  }
  if (text.size() > kMostBytes) line += "…";
  return line;
}

}  // namespace tessera
