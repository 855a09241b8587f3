// SPDX-License-Identifier: Apache-2.0
#include "engine/files/file_system.h"

#include <sys/statfs.h>

#include <algorithm>
#include <array>
#include <filesystem>

namespace tessera::engine {

bool IsSharedFileSystem(std::int64_t type) {
  // Of linux/magic.h, and of file systems outside of the kernel's tree.
  constexpr std::array<std::uint32_t, 14> kShared = {
      0x6969,      // NFS
      0xFF534D42,  // CIFS
      0xFE534D42,  // SMB2
      0x517B,      // SMB
      0x65735546,  // FUSE
      0x01021997,  // 9P
      0x00C36400,  // Ceph
      0x0BD00BD0,  // Lustre
      0x47504653,  // GPFS
      0x19830326,  // BeeGFS
      0x7461636F,  // OCFS2
      0x01161970,  // GFS2
      0x5346414F,  // AFS
      0x73757245,  // Coda
  };
  // f_type is signed where long has 32 bits.
  return std::ranges::count(kShared, static_cast<std::uint32_t>(type)) > 0;
}

bool IsOnSharedFileSystem(const std::string& path) {
  struct statfs facts {};
  const std::string folder = std::filesystem::path(path).parent_path().string();
  if (::statfs(path.c_str(), &facts) != 0 &&
      ::statfs(folder.empty() ? "." : folder.c_str(), &facts) != 0)
    return false;
  return IsSharedFileSystem(static_cast<std::int64_t>(facts.f_type));
}

}  // namespace tessera::engine
