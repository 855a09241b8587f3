// SPDX-License-Identifier: Apache-2.0
#include "agents/node/fault.h"

#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <string>

namespace tessera::agents {

void FaultPoint(std::int32_t node, std::string_view point) {
  static const char* const folder = std::getenv("TESSERA_FAULT_FOLDER");
  if (!folder) return;
  const std::string file =
      std::string(folder) + "/n" + std::to_string(node) + "." + std::string(point);
  std::string act;
  int times = 1;
  std::ifstream(file) >> act >> times;
  if (times > 1) {
    std::ofstream(file) << act << ' ' << times - 1;
    return;
  }
  if (::unlink(file.c_str()) == 0) ::kill(::getpid(), act == "stop" ? SIGSTOP : SIGKILL);
}

}  // namespace tessera::agents
