// SPDX-License-Identifier: Apache-2.0
#include "agents/node/available_memory.h"

#include <fstream>
#include <string>

namespace tessera::agents {

std::optional<std::int64_t> AvailableMemory() {
  std::ifstream file("/proc/meminfo");
  std::string name, unit;
  std::int64_t kib = 0;
  while (file >> name >> kib && std::getline(file, unit)) {
    if (name == "MemAvailable:") return kib * 1024;
  }
  return std::nullopt;
}

}  // namespace tessera::agents
