// SPDX-License-Identifier: Apache-2.0
#include "ptc/base/utf8.h"

#include <fmt/format.h>

#include <cstddef>

namespace tessera {

bool IsPrintableUtf8(std::string_view text) {
  std::size_t i = 0;
  while (i < text.size()) {
    const auto byte = [&](std::size_t at) -> unsigned {
      return at < text.size() ? static_cast<unsigned char>(text[at]) : 0U;
    };
    const unsigned lead = byte(i);
    unsigned length = 0;
    unsigned code = 0;
    if (lead < 0x80) {
      length = 1;
      code = lead;
    } else if (lead >= 0xc2 && lead <= 0xdf) {
      length = 2;
      code = lead & 0x1fU;
    } else if (lead >= 0xe0 && lead <= 0xef) {
      length = 3;
      code = lead & 0x0fU;
    } else if (lead >= 0xf0 && lead <= 0xf4) {
      length = 4;
      code = lead & 0x07U;
    } else {
      return false;
    }
    for (unsigned k = 1; k < length; ++k) {
      const unsigned next = byte(i + k);
      if ((next & 0xc0U) != 0x80U) return false;
      code = code << 6U | (next & 0x3fU);
    }
    const bool overlong = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
    const bool surrogate = code >= 0xd800 && code <= 0xdfff;
    const bool control = code < 0x20 || code == 0x7f;
    if (overlong || surrogate || control || code > 0x10ffff) return false;
    i += length;
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
