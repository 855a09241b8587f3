// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Serves the file tree to a kernel, or to another FUSE client over a socket.

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
  bool allow_other = false;        // also for other users than the owner of the mount
  std::string source = "tessera";  // in mountinfo (MountSource); without commas
  int threads = 0;                 // 0: two per core, at least 4 and at most 16
  /// Logs one line for each failed request. Called from any thread.
  std::function<void(std::string_view)> log = {};
  engine::vfs::TreeOptions tree = {};
  /// Takes written state; nullptr: the mount is read-only.
  std::shared_ptr<engine::vfs::StateSink> sink = nullptr;
};

/// A session and the threads that answer its requests.
class FileServer {
 public:
  /// Mounts the tree on the folder `path`. If the user is root, the read-ahead is 1 MiB.
  /// \pre MountPath, CheckMayMount, RemoveStaleMounts and CheckMountPoint succeeded
  /// \error kUnavailable with the message of libfuse
  static Result<std::unique_ptr<FileServer>> Mount(std::shared_ptr<engine::vfs::StateSource> source,
                                                   const std::string& path,
                                                   const FileServerOptions& options);
  /// Serves requests from `descriptor`, a packet socket, which the server closes at its end.
  static Result<std::unique_ptr<FileServer>> OverSocket(
      std::shared_ptr<engine::vfs::StateSource> source, int descriptor,
      const FileServerOptions& options);
  /// Ends the threads once each has answered its request, and unmounts. Programs with open files
  /// get ENOTCONN.
  ~FileServer();
  FileServer(const FileServer&) = delete;
  FileServer& operator=(const FileServer&) = delete;

  /// Waits until the mount is removed or the socket is closed.
  /// \return whether that happened within `patience`
  bool WaitEnded(std::chrono::milliseconds patience);
  engine::vfs::Tree::Usage usage();

 private:
  struct Impl;
  explicit FileServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace tessera::agents
