// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// What a transaction changes on a node: layouts, plan, and the old and new pieces of its devices.
/// Sends no message.

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "agents/job/rank_view.h"
#include "agents/move/device_store.h"
#include "agents/move/move_context.h"
#include "agents/node/plan_memo.h"
#include "agents/node/remains.h"
#include "agents/wire/tessera/wire/node.pb.h"
#include "engine/copy/device_exchange.h"
#include "engine/store/allocate.h"
#include "engine/store/piece_table.h"
#include "ptc/base/check.h"
#include "ptc/base/result.h"
#include "ptc/layout.h"
#include "ptc/plan/mixed_plan.h"
#include "ptc/plan/plan.h"

namespace tessera::agents {

/// First Build, then Allocate, or Recover after a restart of the agent. The other members are for
/// after that, except prepare() and Joins().
/// \threadsafety The loop's thread.
class PreparedChange {
 public:
  explicit PreparedChange(wire::Prepare prepare) : prepare_(std::move(prepare)) {}

  /// Without the texts of the layouts after TakeText, or after Recover.
  const wire::Prepare& prepare() const { return prepare_; }

  /// Computes layouts and plan from the message, and compares their hashes with those of the
  /// registrar.
  /// \error kFailedPrecondition "stale plan", naming what differs; those of layouts and planner
  Status Build(PlanMemo& memo);
  /// Checks that the devices hold the old layout, and writes the tables of the new pieces into the
  /// other slots of the arenas. Frees what is of no use on the devices. `is_listed`: this node has
  /// devices of the job.
  /// \error naming the device that has failed, is in another job, does not hold the old layout, or
  ///     has too little memory; as engine::CheckRunnable
  Status Allocate(DeviceStore& devices, bool is_listed, PlanMemo& memo);
  /// Returns the message as bytes, and drops the texts of its layouts, which Build has read: they
  /// are most of its memory.
  /// \pre called once
  std::string TakeText();
  /// Reads the tables that an earlier agent has written.
  void Recover(const DeviceStore& devices);

  /// \pre Build has succeeded
  const ptc::Layout& to() const {
    TESSERA_DCHECK(to_.has_value());
    return *to_;
  }
  /// The nodes of the new layout, and those with state of the old one. Empty before Build has
  /// succeeded.
  std::set<std::int32_t> Participants() const;
  /// Whether nothing new lies in the gradients of the old layout, so that ranks may compute while
  /// their state is copied.
  bool keeps_gradients() const { return gradients_ == engine::OldGradients::kKept; }
  /// Why they are not kept although that was planned; empty: they are, or it was not.
  const std::string& why_plain() const { return why_plain_; }
  /// Whether copies on this node can follow the state over the legs that are planned.
  bool can_follow() const { return keeps_gradients() && why_one_leg_.empty(); }
  /// Why not, although that was planned.
  const std::string& why_one_leg() const { return why_one_leg_; }
  /// The tensors of the legs from `first` to `last`, of 1 to legs(); ascending.
  std::vector<int> TensorsOfLegs(int first, int last) const;
  int legs() const { return std::max(1, prepare_.legs_size()); }
  /// Of a move in rounds: makes the table after the round before current on each device, and
  /// writes that of `round`, from 1. Idempotent.
  /// \error naming the device that does not hold the round before
  Status AdvanceTo(DeviceStore& devices, int round, std::int64_t step);
  /// Of a move in rounds that cannot be ended: leaves the state as it is after `rounds` of them, by
  /// making the table after the last one current, unless it is. Idempotent.
  /// \error naming a device that is at another round
  Status Settle(DeviceStore& devices, int rounds, std::int64_t step);
  /// Of the tables after so many rounds.
  std::int64_t EpochAfter(int rounds) const { return first_epoch() + rounds; }
  /// The devices that exchange cells without their hosts, the same on all nodes; empty: none do.
  std::vector<ptc::DeviceId> ExchangeMembers() const;
  /// The flows between them that begin or end at this node.
  /// \pre the change is allocated
  std::vector<engine::ExchangeEnds> ExchangeFlows() const;
  /// Reaches these other nodes as they say from now on.
  void SetPeers(const google::protobuf::RepeatedPtrField<wire::Peer>& peers);
  /// 0: all state moves at once, before the decision.
  int rounds() const { return prepare_.rounds_size(); }
  /// What has lain beside the state of each device of this node, in the round that needed most.
  const std::map<ptc::DeviceId, std::int64_t>& extra() const { return extra_; }
  /// Whether the device holds state that the transaction reads.
  bool IsSource(ptc::DeviceId id) const;
  /// The new pieces of each device of this node.
  const std::map<ptc::DeviceId, engine::PieceTable>& next() const { return next_; }
  /// Whether the transaction starts this rank. False before Build.
  bool Joins(const RankId& id) const;

  /// \error kInternal if the state in an arena is not that after `step`
  Status CheckStep(const DeviceStore& devices, std::int64_t step) const;
  /// The inputs of the transfer on node `node`. `machine`: identity of this machine. `open`: as
  /// NodeWorld::open_checkpoint.
  std::shared_ptr<const MoveContext> MakeContext(const DeviceStore& devices, std::int32_t node,
                                                 const std::string& machine,
                                                 const OpenCheckpoint& open) const;

 private:
  /// Fills old_ and next_.
  Status AllocateAll(const DeviceStore& devices);
  /// Fills saved_, or why_one_leg_.
  void AllocateSaved(const DeviceStore& devices);
  void ExpandMoves(const DeviceStore& devices);
  void ExpandOutgoing(const DeviceStore& devices);
  /// \error naming the device
  Status CheckDevice(const DeviceStore::Device& device, bool is_listed) const;

  void DropTexts();
  /// Each tensor has to be in one of the parts, if there are any.
  /// \param what "rounds move"
  Status CheckParts(const google::protobuf::RepeatedPtrField<wire::MoveRound>& parts,
                    std::string_view what) const;
  /// Reads the rounds from the message.
  Status BuildRounds();
  /// Fills old_ and next_ of the first round, after trying all rounds on each device.
  Status AllocateRounds(const DeviceStore& devices);
  /// Makes the table after `round` current on a device that has the one before, in `held` too.
  Status FlipTo(DeviceStore& devices, DeviceStore::Device& device, engine::PieceTable& held,
                int round, std::int64_t step) const;
  /// The layout hash of the tables of devices with old state.
  std::uint64_t held_hash() const { return remains_ ? remains_->table_hash : prepare_.from_hash(); }
  /// Whether the device is one of those that the old state lies on, lost ones included.
  bool Held(ptc::DeviceId id) const {
    return remains_ ? remains_->where.Has(id) : from_->mesh().RankOf(id).has_value();
  }
  bool IsLost(ptc::DeviceId id) const {
    return std::find(lost_.begin(), lost_.end(), id) != lost_.end();
  }
  /// The table from which the device begins, or a table without entries.
  Result<engine::PieceTable> FirstTable(const DeviceStore::Device& device) const;
  /// Takes the moves of the round's tensors, and the copies of pieces that make room.
  void TakeMovesOf(int round);
  /// What the device may need beside its state in a round.
  std::int64_t BudgetOf(ptc::DeviceId id) const;
  /// Writes next_ into the other slots.
  Status WriteNext(DeviceStore& devices) const;
  std::int64_t first_epoch() const { return prepare_.epoch() - std::max(1, rounds()); }

  wire::Prepare prepare_;
  std::optional<ptc::Layout> from_, to_;
  std::vector<ptc::DeviceId> lost_;                 // of the old layout; their state is of no use
  std::optional<Remains> remains_;                  // present: the state does not lie as in from_
  PlanMemo::OutlinePtr plan_;                       // until Allocate; null with remains_
  std::optional<ptc::MixedPlan> mixed_plan_;        // likewise, with remains_
  std::shared_ptr<const ptc::DeviceMoves> moves_ =  // of the devices of this node; since Allocate
      std::make_shared<const ptc::DeviceMoves>();
  std::map<ptc::DeviceId, engine::PieceTable> old_, next_;  // by local device
  /// What devices of this node send to other nodes, if cells may be exchanged.
  std::shared_ptr<const std::vector<ptc::RemoteCopy>> outgoing_;
  std::vector<engine::Round> rounds_;
  /// Of the round that moves; without rounds: moves_.
  std::shared_ptr<const ptc::DeviceMoves> moves_now_ = moves_;
  std::map<ptc::DeviceId, std::int64_t> extra_;
  engine::OldGradients gradients_ = engine::OldGradients::kFree;
  std::string why_plain_, why_one_leg_;
  /// By local device with old state: where gradients are kept while ranks compute the next ones.
  std::map<ptc::DeviceId, engine::PieceTable> saved_;
  std::vector<int> follows_;  // the parameters whose gradients these are
};

}  // namespace tessera::agents
