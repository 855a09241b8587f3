// SPDX-License-Identifier: Apache-2.0
#include "ptc/layout.h"
#include "tests/fuzz/fuzz_target.h"

using namespace tessera;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto layout = ptc::ParseLayout(fuzz::Text(data, size));
  if (!layout) {
    fuzz::CheckError(layout.error());
    return 0;
  }
  // Printing and parsing again gives the same layout.
  const std::string text = ptc::ToJson(*layout);
  const auto again = ptc::ParseLayout(text);
  if (!again || ptc::ToJson(*again) != text) std::abort();
  return 0;
}
