// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Serves the file tree to a kernel, or to whoever speaks FUSE at the other end of a descriptor.

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "engine/vfs/state_sink.h"
#include "engine/vfs/state_source.h"
#include "engine/vfs/tree.h"
#include "ptc/base/result.h"

namespace tessera::agents {

struct FileServerOptions {
  bool allow_other = false;        // users other than the one who mounts
  std::string source = "tessera";  // what mountinfo calls it (MountSource); without commas
  int threads = 0;                 // 0: two a core, at least 4 and at most 16
  /// Takes one line for each failed request; any thread.
  std::function<void(std::string_view)> log = {};
  engine::vfs::TreeOptions tree = {};
  /// Takes what is written; nullptr: nothing can be.
  std::shared_ptr<engine::vfs::StateSink> sink = nullptr;
};

/// A session and the threads that answer its requests.
class FileServer {
 public:
  /// Mounts on the folder `path` and serves it. Where the user is root the kernel reads ahead by
  /// 1 MiB. \pre MountPath, CheckMayMount, RemoveStaleMounts and CheckMountPoint were asked
  /// \error kUnavailable with the words of libfuse
  static Result<std::unique_ptr<FileServer>> Mount(std::shared_ptr<engine::vfs::StateSource> source,
                                                   const std::string& path,
                                                   const FileServerOptions& options);
  /// Serves what comes over `descriptor`, a packet socket, and closes it in the end.
  static Result<std::unique_ptr<FileServer>> OverSocket(
      std::shared_ptr<engine::vfs::StateSource> source, int descriptor,
      const FileServerOptions& options);
  /// Ends the threads, once each has answered what it has in hand, and unmounts; who has files open
  /// gets ENOTCONN.
  ~FileServer();
  FileServer(const FileServer&) = delete;
  FileServer& operator=(const FileServer&) = delete;

  /// Waits until somebody unmounted it or the other end closed. \return whether that came within
  /// `patience`
  bool WaitEnded(std::chrono::milliseconds patience);
  engine::vfs::Tree::Usage usage();

 private:
  struct Impl;
  explicit FileServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace tessera::agents
