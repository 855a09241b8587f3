// SPDX-License-Identifier: Apache-2.0
#include "tests/support/memory_folder.h"

#include <sys/statvfs.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>

namespace tessera::test {
namespace {
constexpr char kMemory[] = "/dev/shm";
constexpr std::uint64_t kLeastFree = std::uint64_t{256} << 20;  // containers often have 64 MiB
}  // namespace

std::string MemoryFolder() {
  struct statvfs room {};
  const bool fits = ::access(kMemory, W_OK) == 0 && ::statvfs(kMemory, &room) == 0 &&
                    std::uint64_t{room.f_bavail} * room.f_frsize >= kLeastFree;
  return fits ? kMemory : std::filesystem::temp_directory_path().string();
}

}  // namespace tessera::test
