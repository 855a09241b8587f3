// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// One transaction at the registrar: feeds its coordinator, writes the decision register, and hands
/// every other action to its World.

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/cluster/snapshot.h"
#include "engine/txn/coordinator.h"
#include "engine/txn/decision.h"
#include "ptc/base/result.h"

namespace tessera::agents {

/// No socket, clock, thread or file of its own.
/// \threadsafety The loop's thread.
class TransactionRun {
 public:
  /// What the transaction is bound to.
  struct Terms {
    std::int64_t id = 0;
    std::string job;
    std::int64_t slot = 0;                     // of the decision register
    std::int64_t epoch = 0;                    // after a commit
    std::string layout_hash;                   // of the new layout
    std::optional<std::int64_t> step_after{};  // after a commit; absent: the step of the pause
  };
  struct World {
    /// Sends the request to its node: SendPrepare, SendPause, SendTransfer, SendVerify, SendOutcome
    /// or SendGo.
    /// \error if it cannot be sent now
    std::function<Status(const engine::CoordinatorAction& action)> send;
    /// Compares the digests of the sides that the transfers have read.
    std::function<engine::DigestsCompared()> compare;
    /// The job follows `decision`. Called before the registrar tells any
    /// node.
    std::function<void(const engine::Decision& decision)> adopt;
    std::function<void(engine::TxnPhase before)> phase_changed;
    /// The transaction is over. The last call; the run may be destroyed in it.
    std::function<void(bool committed, const std::string& reason)> finished;
    /// Calls `then` after `delay`.
    std::function<void(std::chrono::milliseconds delay, std::function<void()> then)> after;
    /// An event for the history.
    std::function<void(engine::Severity severity, const std::string& text)> note;
  };

  /// `decisions` must outlive the run.
  TransactionRun(Terms terms, engine::Coordinator machine, engine::DecisionRegister& decisions,
                 World world);
  TransactionRun(const TransactionRun&) = delete;
  TransactionRun& operator=(const TransactionRun&) = delete;

  /// Handles the event, and then those that its actions lead to, in their order. An event that
  /// arrives during an action waits until all actions before it are carried out: otherwise a node
  /// might receive a request after the outcome.
  void Feed(engine::CoordinatorEvent event);
  /// Of a restarted registrar: writes `abort` to the register and follows what the register holds.
  void Recover();

  const Terms& terms() const { return terms_; }
  const engine::Coordinator& machine() const { return machine_; }
  engine::TxnPhase phase() const { return machine_.phase(); }
  /// What the register holds; nullopt before it has answered.
  const std::optional<engine::Decision>& decision() const { return decision_; }

 private:
  void Drain();
  void Perform(const engine::CoordinatorAction& action);
  void Write(bool commit);
  void OnWritten(bool commit, const Result<engine::Decision>& held);
  void Send(const engine::CoordinatorAction& action);

  const Terms terms_;
  engine::Coordinator machine_;
  engine::DecisionRegister& decisions_;
  const World world_;
  std::optional<engine::Decision> decision_;
  bool was_out_of_reach_ = false;  // the register, at the last attempt
  std::deque<engine::CoordinatorEvent> events_;
  bool draining_ = false;
  std::optional<engine::Finish> finish_;
  std::shared_ptr<const bool> alive_ = std::make_shared<bool>(true);  // for timers
};

}  // namespace tessera::agents
