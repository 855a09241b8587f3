// SPDX-License-Identifier: Apache-2.0
#include "engine/files/tessera_home.h"

#include <cstdlib>

namespace tessera::engine {

std::string TesseraHome() {
  const auto set = [](const char* name) -> std::string {
    const char* value = std::getenv(name);
    return value != nullptr ? value : "";
  };
  if (std::string home = set("TESSERA_HOME"); !home.empty()) return home;
  if (const std::string data = set("XDG_DATA_HOME"); !data.empty()) return data + "/tessera";
  return set("HOME") + "/.local/share/tessera";
}

}  // namespace tessera::engine
