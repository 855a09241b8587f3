// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// One view of a job's state: where its cells lie, and reads of their bytes.

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "agents/views/share_reader.h"
#include "agents/wire/messages_fwd.h"
#include "engine/vfs/state_source.h"

namespace tessera::agents {

/// Decodes and checks a job's description.
/// \error kInvalidArgument naming the field
Result<engine::vfs::JobInfo> DecodeJobState(const wire::JobStateInfo& info);

/// The error of a view that has lost a node. The other nodes have then released their shares too,
/// and reads of memory that is not mapped fail with this error.
/// \threadsafety Any thread.
class ViewFate {
 public:
  void NoteLost(const Error& why) {
    const std::lock_guard lock(mutex_);
    lost_ = why;
  }
  std::optional<Error> lost() const {
    const std::lock_guard lock(mutex_);
    return lost_;
  }

 private:
  mutable std::mutex mutex_;
  std::optional<Error> lost_;  // guarded by mutex_
};

/// \threadsafety Any thread, several at once.
class ClusterView : public engine::vfs::StateView {
 public:
  /// \param machine identity of this machine, whose nodes are mapped; empty: no memory is mapped
  /// \param released runs in the destructor
  /// \error kInvalidArgument for a reply that does not fit its own layout
  static Result<std::shared_ptr<ClusterView>> Make(const wire::ViewReply& reply,
                                                   const std::string& machine,
                                                   std::shared_ptr<LaneReaders> readers,
                                                   std::function<void()> released);
  ~ClusterView() override;

  const engine::vfs::JobInfo& info() const override { return info_; }
  Status Read(int tensor, const ptc::Box& box, std::span<std::byte> out) const override;

  std::uint64_t id() const { return id_; }
  /// Outlives the view, so that a loss can be noted without holding the view.
  const std::shared_ptr<ViewFate>& fate() const { return fate_; }
  /// The memory that all nodes together hold for this view.
  std::int64_t size_bytes() const { return reader_.plan().total_bytes(); }

 private:
  ClusterView(engine::vfs::JobInfo info, std::uint64_t id, ShareReader reader,
              std::shared_ptr<ViewFate> fate, std::function<void()> released);

  const engine::vfs::JobInfo info_;
  const std::uint64_t id_;
  const ShareReader reader_;
  const std::shared_ptr<ViewFate> fate_;
  std::function<void()> released_;
};

}  // namespace tessera::agents
