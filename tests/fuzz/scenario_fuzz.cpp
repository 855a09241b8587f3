// SPDX-License-Identifier: Apache-2.0
#include "agents/sim/scenario.h"

#include "tests/fuzz/fuzz_target.h"

using namespace tessera;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto scenario =
      agents::sim::ParseScenario({"a.json", std::string(fuzz::Text(data, size))});
  if (!scenario) {
    fuzz::CheckError(scenario.error(), {"a.json:"});
    return 0;
  }
  const std::string text = agents::sim::ToJson(*scenario);
  const auto again = agents::sim::ParseScenario({"a.json", text});
  if (!again) {
    std::fprintf(stderr, "its own text: %s\n", again.error().ToString().c_str());
    std::abort();
  }
  if (agents::sim::ToJson(*again) != text) std::abort();
  return 0;
}
