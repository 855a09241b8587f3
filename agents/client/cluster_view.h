// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// One view of a job's state: where its cells are, and how bytes of them come here.

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "agents/net/lane_reader.h"
#include "engine/store/view_memory.h"
#include "engine/store/view_plan.h"
#include "engine/vfs/state_source.h"

namespace tessera::wire {
class JobStateInfo;  // agents/wire/tessera/wire/control.proto
class ViewReply;     // likewise
}  // namespace tessera::wire

namespace tessera::agents {

/// The readers of nodes' lanes that all views of a process share: one a node. Any thread.
class LaneReaders {
 public:
  explicit LaneReaders(CurveKeys keys) : keys_(std::move(keys)) {}
  /// A node with another key than before gets another reader. \error as LaneReader::Open
  Result<std::shared_ptr<LaneReader>> Of(const std::vector<std::string>& endpoints,
                                         const std::string& server_key);
  /// Ends all reads, and what comes later, with kCancelled.
  void Cancel();

 private:
  // Decryption is the I/O threads' work, and a connection stays on one.
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

/// Values of a reply, checked. \error kInvalidArgument naming what is wrong
Result<engine::vfs::JobInfo> DecodeJobState(const wire::JobStateInfo& info);

/// Whether a node that holds a share of a view is gone, and the others have let go of theirs: reads
/// of what is not mapped end with that error from there on. \threadsafety Any thread.
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
  /// `released` runs at the view's end. `machine`: nodes that name it are mapped; empty: none.
  /// \error kInvalidArgument for a reply that does not fit its own layout
  static Result<std::shared_ptr<ClusterView>> Make(const wire::ViewReply& reply,
                                                   const std::string& machine,
                                                   std::shared_ptr<LaneReaders> readers,
                                                   std::function<void()> released);
  ~ClusterView() override;

  const engine::vfs::JobInfo& info() const override { return info_; }
  Status Read(int tensor, const ptc::Box& box, std::span<std::byte> out) const override;

  std::uint64_t id() const { return id_; }
  /// Stays where it is when the view ends: whoever hears of a loss need not hold the view.
  const std::shared_ptr<ViewFate>& fate() const { return fate_; }
  /// Of memory that its nodes hold for it.
  std::int64_t size_bytes() const { return plan_->total_bytes(); }
  /// Nodes whose memory is mapped here.
  int num_mapped() const;

 private:
  struct Share {
    std::optional<engine::ViewMemory> memory;  // mapped; else
    std::vector<std::string> lanes;
    std::string public_key;
  };
  ClusterView(engine::vfs::JobInfo info, std::shared_ptr<LaneReaders> readers,
              std::function<void()> released);
  struct RemoteRead;
  /// Asks for the next batch, where there is one.
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
