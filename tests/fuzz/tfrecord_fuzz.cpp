// SPDX-License-Identifier: Apache-2.0
#include "engine/data/formats/tfrecord.h"
#include "tests/engine/data/data_files.h"
#include "tests/fuzz/data_fuzz.h"

using namespace tessera;

/// The input is used twice: as a file, and as the data of a record with correct CRCs, so that
/// mutations are not rejected by them.
int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(fuzz::Text(data, size));
  fuzz::TryDataset(engine::OpenTfRecords({test::InMemory("a.tfrecord", bytes)}, 16, {}));
  const auto framed =
      engine::OpenTfRecords({test::InMemory("a.tfrecord", test::TfRecordFrame(bytes))}, 16, {});
  if (!framed) std::abort();
  fuzz::TryDataset(framed);
  return 0;
}
