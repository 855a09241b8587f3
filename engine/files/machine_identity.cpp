// SPDX-License-Identifier: Apache-2.0
#include "engine/files/machine_identity.h"

#include "engine/files/whole_file.h"

namespace tessera::engine {

std::string MachineIdentity() {
  const auto id = ReadWholeFile("/proc/sys/kernel/random/boot_id");
  return id ? id->substr(0, id->find('\n')) : std::string();
}

}  // namespace tessera::engine
