// SPDX-License-Identifier: Apache-2.0
#include "engine/data/formats/megatron.h"
#include "tests/engine/data/data_files.h"
#include "tests/fuzz/data_fuzz.h"

using namespace tessera;

/// The input is an .idx. The .bin beside it does not change.
int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string idx(fuzz::Text(data, size));
  std::string bin;
  for (int i = 0; i < 256; ++i) bin += static_cast<char>(i);
  fuzz::TryDataset(
      engine::OpenMegatron({{test::InMemory("a.bin", bin), test::InMemory("a.idx", idx)}}, 3, {}));
  return 0;
}
