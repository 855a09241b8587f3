// SPDX-License-Identifier: Apache-2.0
#include "ptc/base/counted.h"

namespace tessera {

std::string Counted(std::int64_t count, std::string_view noun) {
  std::string text = std::to_string(count);
  text += ' ';
  text += noun;
  if (count != 1) text += 's';
  return text;
}

}  // namespace tessera
