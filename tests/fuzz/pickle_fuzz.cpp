// SPDX-License-Identifier: Apache-2.0
#include "engine/checkpoint/torch/dcp_metadata.h"
#include "engine/checkpoint/torch/value_json.h"
#include "tests/fuzz/fuzz_target.h"

using namespace tessera;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto pickle = checkpoint::Pickle::Read("a.pkl", 0, std::string(fuzz::Text(data, size)));
  if (!pickle) {
    fuzz::CheckError(pickle.error(), {"a.pkl: byte "});
    return 0;
  }
  const auto metadata = checkpoint::ReadDcpMetadata(**pickle);
  if (!metadata) fuzz::CheckError(metadata.error(), {"a.pkl: byte "});
  const auto json = checkpoint::ToJson((*pickle)->root());
  if (!json) fuzz::CheckError(json.error(), {"a.pkl: byte "});
  return 0;
}
