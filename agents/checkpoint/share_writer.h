// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Writes one node's share of a view into the folder of a checkpoint, while the job continues.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "agents/views/held_share.h"
#include "engine/checkpoint/manifest.h"
#include "ptc/base/result.h"

namespace tessera::agents {

/// What a node has written.
struct WrittenShare {
  std::vector<checkpoint::Manifest::StoredFile> files;
  std::vector<std::uint64_t> digests;  // of its cells, by tensor of the layout
};

/// The work begins at once on threads of its own, which yield to those of ranks.
class ShareWriter {
 public:
  struct Handlers {
    /// Bytes on their way to disk. At most a few times a second.
    std::function<void(std::int64_t done, std::int64_t total)> progress;
    /// Runs once, when all files are on disk. What was written before an error stays.
    std::function<void(Result<WrittenShare>)> done;
    /// Whether the node may write there. It may wait for the file system.
    std::function<Status()> check = {};
  };
  /// Writes into checkpoint::PartialPath(path, view), which is made if it is missing.
  /// \error as Handlers::check; kAlreadyExists if PATH exists; kResourceExhausted, kUnavailable naming the file;
  ///     kCancelled
  /// \threadsafety Handlers run on a thread of the writer.
  ShareWriter(std::shared_ptr<const HeldShare> share, std::string path, Handlers handlers);
  /// Cancels the work and waits for `done`.
  ~ShareWriter();

 private:
  Result<WrittenShare> Write(const std::stop_token& stop) const;

  const std::shared_ptr<const HeldShare> share_;
  const std::string path_;
  const Handlers handlers_;
  std::jthread thread_;
};

}  // namespace tessera::agents
