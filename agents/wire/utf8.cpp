// SPDX-License-Identifier: Apache-2.0
#include "agents/wire/utf8.h"

#include <cstddef>

#include "ptc/base/utf8.h"

namespace tessera::agents {

std::string Utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = Utf8Length(text);
    if (length == 0) {
      out += "\xef\xbf\xbd";
      text.remove_prefix(1);
    } else {
      out += text.substr(0, length);
      text.remove_prefix(length);
    }
  }
  return out;
}

}  // namespace tessera::agents
