// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/machine.h"

#include <fstream>
#include <thread>

namespace tessera::test {

std::string Machine() {
  std::ifstream info("/proc/cpuinfo");
  std::string name = "unknown processor";
  for (std::string line; std::getline(info, line);) {
    if (line.starts_with("model name")) {
      name = line.substr(line.find(':') + 2);
      break;
    }
  }
  return name + ", " + std::to_string(std::thread::hardware_concurrency()) + " cores";
}

}  // namespace tessera::test
