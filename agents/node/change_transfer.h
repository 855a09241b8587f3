// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The transfer of one transaction at a node: offers the old pieces to other nodes, and fills the
/// new pieces.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "agents/move/device_store.h"
#include "agents/move/move.h"
#include "agents/move/move_context.h"
#include "agents/node/committed_digests.h"
#include "agents/node/node_world.h"
#include "agents/node/prepared_change.h"
#include "agents/node/uplink.h"
#include "agents/wire/messages_fwd.h"
#include "engine/txn/participant.h"
#include "ptc/base/result.h"

namespace tessera::agents {

/// \threadsafety The loop's thread.
class ChangeTransfer {
 public:
  using Done = std::function<void(const Status&)>;

  /// \pre all outlive this part
  ChangeTransfer(const PreparedChange& change, std::int32_t node, const NodeWorld& world,
                 DeviceStore& devices, CommittedDigests& digests, const Uplink& uplink)
      : change_(change),
        node_(node),
        world_(world),
        devices_(devices),
        digests_(digests),
        uplink_(uplink) {}
  ChangeTransfer(const ChangeTransfer&) = delete;
  ChangeTransfer& operator=(const ChangeTransfer&) = delete;

  /// Begins to make the memory of the new pieces present. `done` runs once, later than the call,
  /// unless this part ends before, or nothing is begun.
  /// \pre the change is allocated
  void Warm(std::function<void()> done);
  /// Whether that goes on. The pause would be longer by what is left of it.
  bool is_warming() const { return is_warming_; }
  /// Lets other nodes fetch cells of this transfer. Idempotent.
  void Offer();
  /// No cells may be fetched from now on.
  void Withdraw() { world_.serve(nullptr); }
  /// Keeps the gradients of what may follow. What fails is noted: the next leg is then not whole.
  /// `done` as of Precopy.
  /// \pre all ranks of this node wait
  void SaveGradients(std::function<void()> done);
  /// Copies the tensors of the leg while the ranks compute gradients, and makes the update of
  /// `followed` to those of the legs before. What fails is left to Start.
  /// `done` runs once, unless this part ends before; also inside the call.
  /// \pre the change keeps the old gradients
  void Precopy(const engine::RunPrecopy& leg, const wire::StepDecision& followed,
               std::function<void(bool is_whole)> done);
  /// What was copied does not count.
  void ForgetCopies();
  /// Starts the transfer of the state after `step`, unless it was copied before. If the step of
  /// `pending` is not 0, its gradients move too, and devices that have no rank yet get the
  /// decision. `done` runs once, on the loop, unless this part ends before; also inside the call.
  /// It may destroy this part.
  /// \error kFailedPrecondition if an earlier agent has prepared the change; as
  ///     PreparedChange::CheckStep. Then `done` does not run.
  Status Start(std::int64_t step, const wire::StepDecision& pending,
               std::function<void(const Status&)> done);
  /// Moves the cells of the round to which the change has advanced, and offers its own to others.
  /// `done` as in Start.
  void MoveRound(Done done);
  /// Cells between nodes go by this way in the transfer that Start begins; null: over lanes.
  void UseExchange(std::shared_ptr<engine::DeviceExchange> exchange) {
    exchange_ = std::move(exchange);
  }
  /// Whether other nodes may copy from here.
  bool is_offered() const { return is_offered_; }
  /// Makes the transfer end soon. No `done` runs after that.
  void Cancel();
  /// Ends the transfer. Afterwards it writes no more.
  void Stop() {
    lives_ = std::make_shared<const bool>(true);
    replicas_read_.reset();
    move_.reset();
    gradient_move_.reset();
    followed_move_.reset();
    follow_run_.reset();
    ahead_.reset();
  }

  /// Reports the flows that have grown since the last report, or all of them. Does nothing without
  /// a transfer.
  void SendProgress(bool all);
  /// Adds the number of comparisons of the finished transfer, and the digests that it has taken or
  /// that were taken before.
  void Describe(wire::TxnReport* report) const;
  /// The state after a transfer that has left kept cells unread. Absent if it has read all, or if
  /// an earlier agent made it.
  std::optional<KeptState> Kept(std::int64_t step) const;
  /// The digests of the state after `step` that were taken while the ranks computed, if they are
  /// complete.
  std::optional<KeptResult> TakenAhead(std::int64_t step);

 private:
  void TakeAhead(std::int64_t step);
  /// Calls `done(status)` when the digests that TakeAhead has begun are known, or failed.
  void AfterAhead(const Status& status, const Done& done);
  /// Reads the replicas that the change drops, and those that they have to equal. The registrar
  /// compares them before it decides.
  void CompareReplicas(const Done& done);
  void MoveState(std::shared_ptr<const MoveContext> context, MoveMode mode, Done done);
  void CopyLeg(const engine::RunPrecopy& leg, const wire::StepDecision& followed, Done done);
  /// Makes the update to the tensors of the legs before.
  void Follow(const engine::RunPrecopy& leg, const wire::StepDecision& followed, Done done);
  /// Compares all copies with the state that they are to be equal to.
  void CompareCopies(Done done);
  /// What is counted of the transfer that has ended counts in the next ones.
  void CountFlows();
  /// Adds what earlier rounds have moved to the result.
  void AddTo(const MoveResult& before);
  void MoveGradients(const wire::StepDecision& pending, Done done);
  void ReportNotes(const MoveResult& result) const;
  /// Gives joining devices the decision of the step whose gradients they have.
  void StorePending(const wire::StepDecision& pending);

  const PreparedChange& change_;
  const std::int32_t node_;
  const NodeWorld& world_;
  DeviceStore& devices_;
  CommittedDigests& digests_;
  const Uplink& uplink_;
  std::shared_ptr<const MoveContext> context_;  // since Warm or Offer
  std::shared_ptr<engine::DeviceExchange> exchange_;
  bool is_offered_ = false;
  std::shared_ptr<void> pages_;
  bool is_warming_ = false;
  std::unique_ptr<Move> replicas_read_;  // without a move
  std::optional<SideDigests> replicas_;  // their digests
  std::unique_ptr<Move> move_;           // of the state
  std::unique_ptr<Move> gradient_move_;  // after it
  std::unique_ptr<Move> followed_move_;  // of gradients that were kept
  std::shared_ptr<void> follow_run_;
  std::string why_not_saved_;
  std::unique_ptr<KeptRun> ahead_;  // digests, while the ranks compute
  std::optional<KeptResult> taken_ahead_;
  std::function<void()> after_ahead_;  // a transfer waits for them
  std::optional<std::int64_t>
      copied_;  // the step after which the state was copied before the pause
  std::vector<std::pair<std::int64_t, std::string>> reported_;  // by flow: bytes, reason
  std::int64_t reported_storage_ = 0, reported_gradients_ = 0;
  std::int64_t followed_before_ = 0;  // bytes of gradients, before followed_move_
  /// Bytes of the rounds or legs before, by source and destination.
  std::map<std::pair<ptc::DeviceId, ptc::DeviceId>, std::int64_t> moved_before_;
  std::optional<MoveResult> result_;
  /// Another one after Cancel and Stop: the result of a transfer that has ended may be on its way
  /// to the loop, and must not begin the next one.
  std::shared_ptr<const bool> lives_ = std::make_shared<const bool>(true);
};

}  // namespace tessera::agents
