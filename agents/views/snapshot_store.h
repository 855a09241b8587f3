// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// This node's shares of snapshots. A share begins as that of a view. Then it fetches the cells
/// that no device of this node holds, and its memory goes to the keeper, so that it survives this
/// agent.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "agents/keeper/packet.h"
#include "agents/net/loop.h"
#include "agents/views/disposal.h"
#include "agents/views/held_share.h"
#include "agents/views/share_reader.h"
#include "agents/wire/tessera/wire/node.pb.h"
#include "engine/history/durable_store.h"

namespace tessera::agents {

/// \threadsafety The loop's thread, except where a member allows any.
class SnapshotStore {
 public:
  struct World {
    /// The keeper's: holds a descriptor under a name, and closes it.
    std::function<Status(const std::string& name, int fd)> keep;
    std::function<Status(const std::string& name)> drop;
    engine::DurableStore* journal = nullptr;
    std::string machine;                      // identity of this machine
    std::shared_ptr<LaneCounts> counts = {};  // of the lanes of this agent
  };
  /// The digest of each tensor's cells in this share, without second copies.
  using Digests = std::vector<std::uint64_t>;
  using Done = std::function<void(Result<Digests>)>;

  SnapshotStore(Loop& loop, World world, const CurveKeys& keys);
  /// Cancels what is being completed.
  ~SnapshotStore();

  /// Takes over the complete shares of earlier agents of node `node`. What does not fit its journal
  /// row is dropped. A row that cannot be read is set aside, and `set_aside` gets a sentence.
  /// \error that of the journal
  Status Recover(std::int32_t node, std::map<std::string, UniqueFd> kept,
                 std::vector<std::string>* set_aside);
  /// Completes a share of the snapshot whose shares are `shares`. `done` runs once, on the loop,
  /// unless the share is dropped before.
  /// \error that of the source of a cell; that of keeper or journal
  void Complete(const wire::ViewReply& shares, std::shared_ptr<const HeldShare> share, Done done);
  /// Makes and fills the share of this node, which is the guest of the snapshot.
  /// \error as Complete; kFailedPrecondition if it is not; that of the memory
  void CompleteAsGuest(const wire::ViewReply& shares, std::int32_t node, Done done);
  /// Frees a share, complete or not. Ignores unknown shares.
  void Drop(std::uint64_t id);
  void Describe(google::protobuf::RepeatedPtrField<wire::HeldSnapshot>* out) const;
  /// As ViewStore::Resolve. Any thread.
  Result<SourceCell> Resolve(std::uint64_t id, const LaneCell& cell) const;

 private:
  using Made = Result<std::shared_ptr<const HeldShare>>;
  /// Makes the share and fetches what it lacks, on a thread. Ignores a repeated call.
  void Run(const wire::ViewReply& shares, Done done,
           std::function<Made(const std::stop_token& stop)> make);
  /// `share` is null if it could not be made.
  void OnCompleted(std::uint64_t id, const std::shared_ptr<const HeldShare>& share,
                   const Result<Digests>& digests);
  Status KeepShare(const HeldShare& share);

  Loop& loop_;
  const World world_;
  const std::shared_ptr<LaneReaders> readers_;
  Disposal disposal_;
  mutable std::mutex mutex_;
  std::map<std::uint64_t, std::shared_ptr<const HeldShare>> held_;  // under mutex_
  struct Completing {
    Done done;  // null: dropped
    std::jthread thread;
  };
  std::map<std::uint64_t, Completing> completing_;
};

}  // namespace tessera::agents
