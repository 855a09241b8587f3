// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Reads the state of a job from the shares of a view or a snapshot, which lie in the memory of
/// several nodes: mapped where this machine holds them, else over lanes.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "agents/net/lane_readers.h"
#include "agents/wire/messages_fwd.h"
#include "engine/store/view_memory.h"
#include "engine/store/view_plan.h"
#include "ptc/base/result.h"
#include "ptc/layout.h"

namespace tessera::agents {

/// The state that shares hold.
struct SharedState {
  std::string job;
  std::int64_t epoch = 0;
  std::int64_t timeline = 0;
  std::int64_t step = 0;
  ptc::Layout layout;
  std::optional<std::int32_t> guest = {};  // of a snapshot: see engine::ViewPlan::OfSnapshot
  std::uint64_t origin = 0;                // of the job, as JobRow::origin; 0: unknown
};
void Encode(const SharedState& state, wire::JobStateInfo* out);
/// \error kInvalidArgument naming the job and the field
Result<SharedState> DecodeSharedState(const wire::JobStateInfo& info);

/// \threadsafety Any thread, several at once.
class ShareReader {
 public:
  struct Options {
    /// Identity of this machine, whose shares are mapped; empty: no memory is mapped.
    std::string machine;
    bool is_snapshot = false;
    /// The nodes of the snapshot have not fetched yet: only copies of devices are read.
    bool only_copied = false;
    /// Replaces the error of a read.
    std::function<Error(Error)> explain = {};
  };
  /// A view needs the shares of all its nodes, a snapshot those of enough nodes.
  /// \error kInvalidArgument for shares that do not fit the layout, or a view that lacks one;
  ///     kDataLoss naming a tensor of a snapshot that no share holds
  static Result<ShareReader> Make(const wire::ViewReply& shares, SharedState state,
                                  std::shared_ptr<LaneReaders> readers, Options options);

  /// Reads the row-major elements of `box` of tensor `tensor`.
  /// \error kInvalidArgument for a box outside of the tensor or another size; naming tensor and
  ///     node, kDataLoss or kUnavailable if the node that holds them is lost
  Status Read(int tensor, const ptc::Box& box, std::span<std::byte> out) const;

  struct Part {
    int tensor = 0;
    ptc::Box box = ptc::Box::Scalar();
    std::span<std::byte> out = {};
  };
  /// Reads several at once, so that lanes do not idle between small ones.
  /// \error as Read, the first one; the other parts may have been read
  Status ReadAll(std::span<const Part> parts) const;

  const SharedState& state() const { return state_; }
  const engine::ViewPlan& plan() const { return *plan_; }

 private:
  struct Share {
    std::optional<engine::ViewMemory> memory;  // if mapped; else read over `lanes`
    std::vector<std::string> lanes;
    std::string public_key;
    std::vector<LaneTicket> tickets;  // of the lanes; empty: they are encrypted
  };
  struct RemoteRead;
  ShareReader(SharedState state, std::shared_ptr<const engine::ViewPlan> plan,
              std::shared_ptr<LaneReaders> readers, Options options);
  /// \error kInvalidArgument as Read
  Status CheckPart(const Part& part) const;
  Status TakeShares(const wire::ViewReply& shares);
  /// Decides from which share each cell is read.
  Status ChooseCopies();
  /// Copies what is mapped and requests the rest, which ends with the futures in `remote`.
  void BeginPart(const Part& part, std::deque<RemoteRead>& remote) const;
  /// Requests the bytes of `part`, a box inside the cell.
  void Begin(RemoteRead& read, const ptc::Box& part) const;
  Error Describe(Error error, const engine::ViewCell& cell) const;

  SharedState state_;
  std::shared_ptr<const engine::ViewPlan> plan_;
  std::shared_ptr<LaneReaders> readers_;
  Options options_;
  std::uint64_t id_ = 0;
  std::map<std::int32_t, Share> shares_;
  /// By cell of the plan: the cell that is read instead; nullptr for second copies.
  std::vector<const engine::ViewCell*> copies_;
};

}  // namespace tessera::agents
