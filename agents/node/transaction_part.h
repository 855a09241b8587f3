// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// One transaction at a node: feeds its participant, keeps its promises in the journal, and hands
/// every other action to its World.

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>

#include "agents/wire/tessera/wire/node.pb.h"
#include "engine/history/durable_store.h"
#include "engine/txn/decision.h"
#include "engine/txn/participant.h"
#include "ptc/base/result.h"

namespace tessera::agents {

/// No socket, clock, thread or file of its own.
/// \threadsafety The loop's thread.
class TransactionPart {
 public:
  /// What the transaction is bound to.
  struct Terms {
    std::int64_t id = 0;
    std::string job;
    std::int64_t slot = 0;
    std::string layout_hash;  // of the new layout
    int rounds = 0;           // in which the state moves after the decision; 0: before it
  };
  /// A row of the journal that an earlier agent of the node wrote.
  struct Kept {
    std::int64_t id = 0;
    engine::ParticipantState state = engine::ParticipantState::kIdle;
    std::string prepare;
    int moved = 0;  // rounds
  };
  struct World {
    /// Returns the message that began it, for the journal. Called once, after `check` has
    /// succeeded.
    std::function<std::string()> prepare;
    /// Checks plan, memory and hashes, and reserves memory.
    std::function<Status()> check;
    /// Starts joining ranks and builds groups. RanksConnected is the result, also inside the call.
    std::function<void()> connect;
    /// Raises the request word. RanksPaused is the result, also inside the call, and with
    /// `before_update` StateReached. With a leg after the first it keeps the gradients before, and
    /// lets the ranks, which wait, go on.
    std::function<void(const engine::RaiseRequest& request)> raise_request;
    /// Copies the state after a step while ranks compute. After the first leg, `followed` is the
    /// decision of that step. PrecopyEnded is the result, also inside the call.
    std::function<void(const engine::RunPrecopy& leg, const wire::StepDecision& followed)> precopy;
    /// Starts the transfer of the state after `step`, and of the gradients of the step that is
    /// pending. `anew`: what was copied before does not count. TransferEnded is the result.
    std::function<void(std::int64_t step, const wire::StepDecision& pending, bool anew)> transfer;
    /// Frees what the round before has moved, and copies the cells of this one. RoundEnded is the
    /// result, also inside the call.
    std::function<void(int round, std::int64_t step)> round = {};
    /// Lets other nodes copy from here in this round, unless they may already.
    std::function<void(int round, std::int64_t step)> offer_round = [](int, std::int64_t) {};
    /// Leaves the state as it is after so many rounds. Idempotent.
    std::function<void(int rounds, std::int64_t step)> settle = {};
    std::function<void(const engine::Report& report)> report;
    /// Flips to the new layout, whose state is that after `step`. Idempotent. RanksAttached is the
    /// result, also inside the call.
    std::function<void(std::int64_t step)> flip;
    /// Ends joining ranks and the transfer. CleanedUp is the result, also inside the call.
    std::function<void()> clean_up;
    std::function<void(bool stay_paused)> release;
    std::function<void(bool stay_paused)> resume_old;
    /// Reads the register, or writes `abort` to it.
    std::function<void(bool write_abort)> ask;
    /// The transaction is over here. The last call; the part may be destroyed in it. `has_rows`:
    /// the journal has refused to erase them.
    std::function<void(bool stay_paused, bool has_rows)> forgotten;
    /// A contradiction that only a fault of disk or memory can cause: the agent must stop.
    std::function<void(const std::string& why)> halt;
    std::function<void(const std::string& text)> note_error;
    /// Named moments, for tests that kill the agent there.
    std::function<void(const std::string& point)> fault_point = [](const std::string&) {};
  };

  /// `journal` must outlive the part.
  TransactionPart(Terms terms, engine::DurableStore& journal, World world);
  /// Of a restarted agent.
  TransactionPart(Terms terms, engine::ParticipantState state, engine::DurableStore& journal,
                  World world, int moved = 0);
  TransactionPart(const TransactionPart&) = delete;
  TransactionPart& operator=(const TransactionPart&) = delete;
  /// The transaction in the journal, or nullopt. Ignores a state of another transaction, which is
  /// left if an erasure failed.
  /// \error kDataLoss naming the row; those of the store
  static Result<std::optional<Kept>> Load(engine::DurableStore& journal);
  /// Erases both rows.
  static Status Clear(engine::DurableStore& journal);
  /// Whether this is the last transaction that the node has ended.
  static bool HasEnded(engine::DurableStore& journal, std::int64_t transaction);
  /// The number of the last move in rounds that has ended here, or 0.
  static std::int64_t LastEnded(engine::DurableStore& journal);

  /// Handles the event, and then those that its actions lead to, in their order.
  void Feed(engine::ParticipantEvent event);
  void OnPrecopy(const engine::PrecopyRequested& leg, const wire::StepDecision& followed);
  void OnTransfer(std::int64_t step, const wire::StepDecision& pending, bool anew);
  /// The value of the transaction's slot. A decision of another transaction means that this one can
  /// no longer be committed. `round`, `settled`: as in engine::OutcomeReceived; absent: the
  /// registrar has not said it.
  void OnDecision(const engine::Decision& decision, std::optional<int> round = std::nullopt,
                  int settled = 0);
  void OnGo(bool stay_paused);
  /// Reports again that the outcome was followed: the report or the Go may have been lost.
  void RepeatFollowed();

  const Terms& terms() const { return terms_; }
  engine::ParticipantState state() const { return machine_.state(); }
  bool followed() const { return machine_.followed(); }
  bool gave_up() const { return machine_.gave_up(); }

 private:
  void Perform(const engine::ParticipantAction& action);
  /// \return whether the actions after it may be carried out
  bool JournalState(const engine::JournalState& action);

  const Terms terms_;
  engine::DurableStore& journal_;
  const World world_;
  engine::Participant machine_;
  std::deque<engine::ParticipantEvent> events_;
  bool draining_ = false;
  bool refused_ = false;  // the journal refused a state: the remaining actions are dropped
  bool forgotten_ = false;
  bool halted_ = false;
  bool stay_paused_ = false;
  bool has_rows_ = false;  // after the end
  std::int64_t step_ = 0;
  wire::StepDecision followed_;  // of the leg
  wire::StepDecision pending_;   // of the transfer; without a step: none
  bool anew_ = false;
};

}  // namespace tessera::agents
