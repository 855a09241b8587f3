// SPDX-License-Identifier: Apache-2.0
#include "engine/files/file_system.h"

#include <sys/statfs.h>

#include <algorithm>
#include <array>
#include <filesystem>

namespace tessera::engine {

bool IsSharedFileSystem(std::int64_t type) {
  // Of linux/magic.h, and of file systems that do not list theirs there.
  constexpr std::array<std::uint32_t, 19> kLocal = {
      0xEF53,      // ext2, ext3, ext4
      0x58465342,  // XFS
      0x9123683E,  // Btrfs
      0xCA451A4E,  // bcachefs
      0xF2F52010,  // F2FS
      0x2FC12FC1,  // ZFS
      0x3153464A,  // JFS
      0x52654973,  // ReiserFS
      0x3434,      // NILFS
      0x24051905,  // UBIFS
      0x01021994,  // tmpfs
      0x858458F6,  // ramfs
      0x794C7630,  // overlayfs: its upper layer is never on a network file system
      0x4D44,      // FAT
      0x2011BAB0,  // exFAT
      0x5346544E,  // NTFS
      0x7366746E,  // NTFS3
      0x482B,      // HFS+
      0x15013346,  // UDF
  };
  // f_type is signed where long has 32 bits.
  return std::ranges::count(kLocal, static_cast<std::uint32_t>(type)) == 0;
}

bool IsOnSharedFileSystem(const std::string& path) {
  struct statfs facts {};
  const std::string folder = std::filesystem::path(path).parent_path().string();
  if (::statfs(path.c_str(), &facts) != 0 &&
      ::statfs(folder.empty() ? "." : folder.c_str(), &facts) != 0)
    return true;
  return IsSharedFileSystem(static_cast<std::int64_t>(facts.f_type));
}

}  // namespace tessera::engine
