// SPDX-License-Identifier: Apache-2.0
#include "engine/data/formats/tar.h"
#include "tests/engine/data/data_files.h"
#include "tests/fuzz/data_fuzz.h"

using namespace tessera;

/// The input is used twice: as an archive, and as the data of an extended header after a correct
/// header.
int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(fuzz::Text(data, size));
  fuzz::TryDataset(engine::OpenTar({test::InMemory("a.tar", bytes)}, 16, {}));
  const std::string member = test::TarMemberBytes("1.txt", "text");
  for (const char type : {'x', 'L'}) {
    fuzz::TryDataset(engine::OpenTar(
        {test::InMemory("a.tar", test::TarMemberBytes("x", bytes, type) + member)}, 16, {}));
  }
  return 0;
}
