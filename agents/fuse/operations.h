// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The requests of the FUSE protocol, translated into calls of the file tree and back. The only
/// place that knows both.

#define FUSE_USE_VERSION 312
#include <fuse_lowlevel.h>
#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <string_view>

#include "engine/vfs/tree.h"

namespace tessera::agents {

/// The largest read that the kernel makes, and how far it reads ahead.
inline constexpr std::uint32_t kMaxReadBytes = 1 << 20;

/// What the operations work on; it outlives the session.
struct FileService {
  engine::vfs::Tree& tree;
  uid_t owner = 0;
  gid_t group = 0;
  /// Wall clock less steady clock: files say when their version was first seen.
  std::chrono::system_clock::duration wall_offset = {};
  /// Takes one line; called from any of the session's threads.
  std::function<void(std::string_view)> log = {};
  /// Takes requests that may wait for data (Tree::MayWait); they are answered on another thread.
  std::function<void(std::function<void()>)> aside = {};
};

/// For fuse_session_new; the user data is a FileService.
const fuse_lowlevel_ops& FileOperations();

}  // namespace tessera::agents
