// SPDX-License-Identifier: Apache-2.0
#include "tests/support/digests.h"

#include <algorithm>

namespace tessera::test {

bool IsDigest(std::string_view text) {
  return text.size() == 16 && std::ranges::all_of(text, [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

std::string WrongDigests(const Json& before, const Json& after) {
  for (const Json* const each : {&before, &after}) {
    if (!each->is_string() || !IsDigest(each->get_ref<const std::string&>()))
      return "this is not a digest of 16 hexadecimal digits: " + each->dump();
  }
  if (before == after) return {};
  return "the digests differ: " + before.dump() + " and " + after.dump();
}

}  // namespace tessera::test
