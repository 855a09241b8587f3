// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Where tests of durable writes keep their files. On a disk they would wait for it at each write.

#include <string>

namespace tessera::test {
/// "/dev/shm" if files can be made there, else the folder for temporary files.
std::string MemoryFolder();
}  // namespace tessera::test
