// SPDX-License-Identifier: Apache-2.0
#include "ptc/topology/topology.h"
#include "tests/fuzz/fuzz_target.h"

using namespace tessera;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto cluster = ptc::ParseCluster("a.json", fuzz::Text(data, size));
  if (!cluster) {
    fuzz::CheckError(cluster.error(), {"a.json", "device grid '"});
    return 0;
  }
  const std::string text = ptc::ToJson(*cluster);
  const auto again = ptc::ParseCluster("a.json", text);
  if (!again || ptc::ToJson(*again) != text) std::abort();
  return 0;
}
