// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// One view of a job's state: where its cells lie, and reads of their bytes.

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "agents/net/lane_reader.h"
#include "agents/wire/messages_fwd.h"
#include "engine/store/view_memory.h"
#include "engine/store/view_plan.h"
#include "engine/vfs/state_source.h"

namespace tessera::agents {

/// The lane readers that all views of a process share: one per node.
/// \threadsafety Any thread.
class LaneReaders {
 public:
  explicit LaneReaders(CurveKeys keys) : keys_(std::move(keys)) {}
  /// A node whose key has changed gets a new reader.
  /// \error as LaneReader::Open
  Result<std::shared_ptr<LaneReader>> Of(const std::vector<std::string>& endpoints,
                                         const std::string& server_key);
  /// Ends all current and later reads with kCancelled.
  void Cancel();

 private:
  // Two I/O threads, because they decrypt and each connection stays on one of them.
  NetContext context_{2};
  const CurveKeys keys_;
  std::mutex mutex_;
  bool is_cancelled_ = false;  // guarded by mutex_
  struct Known {
    std::string server_key;
    std::shared_ptr<LaneReader> reader;
  };
  std::map<std::vector<std::string>, Known> readers_;  // by endpoints; guarded by mutex_
};

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
  std::int64_t size_bytes() const { return plan_->total_bytes(); }

 private:
  struct Share {
    std::optional<engine::ViewMemory> memory;  // if mapped; else read over `lanes`
    std::vector<std::string> lanes;
    std::string public_key;
  };
  ClusterView(engine::vfs::JobInfo info, std::shared_ptr<LaneReaders> readers,
              std::function<void()> released);
  struct RemoteRead;
  /// Requests the next batch of segments, if any are left.
  void Begin(RemoteRead& read) const;
  Error Describe(Error error, const engine::ViewCell& cell) const;

  const engine::vfs::JobInfo info_;
  std::uint64_t id_ = 0;
  std::shared_ptr<const engine::ViewPlan> plan_;
  std::map<std::int32_t, Share> shares_;
  std::shared_ptr<LaneReaders> readers_;
  std::function<void()> released_;
  const std::shared_ptr<ViewFate> fate_ = std::make_shared<ViewFate>();
};

}  // namespace tessera::agents
