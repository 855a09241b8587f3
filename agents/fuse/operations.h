// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Translates requests of the FUSE protocol into calls of the file tree, and results into replies.

#define FUSE_USE_VERSION 312
#include <fuse_lowlevel.h>
#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <string_view>

#include "engine/vfs/tree.h"

namespace tessera::agents {

/// The largest read of the kernel, and its read-ahead.
inline constexpr std::uint32_t kMaxReadBytes = 1 << 20;

/// The user data of the operations. It outlives the session.
struct FileService {
  engine::vfs::Tree& tree;
  uid_t owner = 0;
  gid_t group = 0;
  /// Wall clock minus steady clock. The time of a file is when its version was first seen.
  std::chrono::system_clock::duration wall_offset = {};
  /// Logs one line; called from any thread of the session.
  std::function<void(std::string_view)> log = {};
  /// Runs requests that may wait for data (Tree::MayWait) on another thread.
  std::function<void(std::function<void()>)> aside = {};
};

/// For fuse_session_new. The user data is a FileService.
const fuse_lowlevel_ops& FileOperations();

}  // namespace tessera::agents
