// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The digests of the last transaction on this node. After a commit they are taken while the ranks
/// continue. Kept until the state of the job changes again, because a report may be lost.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agents/move/kept_digests.h"
#include "agents/move/move.h"
#include "agents/move/move_context.h"
#include "agents/node/node_world.h"
#include "agents/node/uplink.h"
#include "agents/wire/tessera/wire/node.pb.h"

namespace tessera::agents {

/// \threadsafety The loop's thread.
class CommittedDigests {
 public:
  /// \pre both outlive this part
  CommittedDigests(const NodeWorld& world, const Uplink& uplink) : world_(world), uplink_(uplink) {}
  CommittedDigests(const CommittedDigests&) = delete;
  CommittedDigests& operator=(const CommittedDigests&) = delete;

  /// Holds the updates of the node's devices, and begins to take the digests of their state. Sends
  /// StateDigests when they are complete.
  /// \pre no rank of these devices may begin an update yet
  void Take(std::int64_t transaction, KeptState state);
  /// The same with digests that were taken before the commit. Nothing is held.
  void Adopt(std::int64_t transaction, const MoveContext& change, KeptResult result);
  /// Keeps the digests of both sides that were taken before the commit, to answer questions about
  /// them.
  void Keep(std::int64_t transaction, const MoveContext& change, std::vector<DeviceDigests> before,
            std::vector<DeviceDigests> after);

  /// Sends StateDigests again, or that there are none. Sends them later if they are being taken.
  void OnAsk(const wire::AskStateDigests& message);
  void OnAskCells(const wire::AskGroupCells& message);

  /// The state of the job is about to be overwritten or freed: clears the holds and forgets.
  void Forget(const std::string& job);

 private:
  /// Of one transaction.
  struct Last {
    std::int64_t transaction = 0;
    std::string job;
    ptc::Layout from, to;
    std::vector<ptc::DeviceId> lost;
    std::optional<KeptState> held;  // while a run holds updates
    std::optional<wire::StateDigests> report;
    std::vector<DeviceDigests> before, after;  // by device, in the order of DeviceCells::Of
  };
  /// Forgets the transaction before.
  Last& Begin(std::int64_t transaction, const MoveContext& change);
  /// Notes the digests of last_, or why there are none, and sends them.
  void Complete(KeptResult result);
  void Report(const wire::StateDigests& report) const;

  const NodeWorld& world_;
  const Uplink& uplink_;
  std::optional<Last> last_;
  std::unique_ptr<KeptRun> run_;
  std::int64_t runs_ = 0;  // counts them: a result may arrive after its run was given up
  /// Ends with this part.
  const std::shared_ptr<const bool> lives_ = std::make_shared<const bool>(true);
};

}  // namespace tessera::agents
