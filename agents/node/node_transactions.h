// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Which transaction a node takes part in: receives the registrar's messages about transactions,
/// and asks when the registrar is silent.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "agents/job/rank_protocol.h"
#include "agents/job/rank_view.h"
#include "agents/net/timers.h"
#include "agents/node/node_transaction.h"
#include "agents/node/rendezvous_relay.h"
#include "agents/wire/tessera/wire/node.pb.h"
#include "engine/txn/participant.h"
#include "ptc/base/result.h"

namespace tessera::agents {

/// A node takes part in one transaction at a time. The next one waits while this node still follows
/// the outcome of the one before.
/// \threadsafety The loop's thread.
class NodeTransactions {
 public:
  /// `world` without `forgotten`. `send_heartbeat` runs when a transaction is over.
  /// \pre all outlive the desk
  NodeTransactions(NodeTransaction::World world, RendezvousRelay& rendezvous,
                   std::function<void()> send_heartbeat);
  NodeTransactions(const NodeTransactions&) = delete;
  NodeTransactions& operator=(const NodeTransactions&) = delete;

  /// Continues the transaction of the journal.
  /// \error kDataLoss naming a row; those of the journal; as NodeTransaction::Recover
  Status Recover();

  /// nullptr: none.
  const NodeTransaction* current() const { return txn_ ? &*txn_ : nullptr; }
  /// Whether the transaction of this node changes the job.
  bool Changes(const std::string& job) const { return txn_ && txn_->prepare().job() == job; }

  void OnPrepare(const wire::Prepare& message);
  void OnPauseTxn(const wire::PauseTxn& message);
  void OnTransfer(const wire::Transfer& message);
  void OnThrottle(const wire::Throttle& message);
  void OnVerify(const wire::Verify& message);
  void OnOutcome(const wire::Outcome& message);
  void OnGo(const wire::Go& message);
  /// The answer to a question about the register.
  void OnDecided(const wire::Decided& message);

  void OnRankAttached(const RankId& id);
  void OnRankConnected(const RankId& id, const Attempt& reached, const Status& status);
  /// \pre Changes(id.job)
  void OnRankPaused(const RankId& id) { txn_->OnRankPaused(id); }
  /// \return false if no transaction leads to this epoch
  bool OnRankAdopted(const RankId& id, std::int64_t epoch);
  /// A rank of the job has a step decision.
  void OnRankDecided(const std::string& job);
  /// A rank of this node has ended.
  void OnRankEnded();

  /// The three below are called each second, in this order; the first two while the registrar knows
  /// this agent.
  void Beat();
  void RepeatReport();
  /// Asks about the transaction if its registrar has been silent about it. `last_message`: when the
  /// registrar last sent anything.
  void AskAfterSilence(Timers::Clock::time_point last_message);
  /// Called ten times a second.
  void SendProgress();

 private:
  struct Waiting {
    wire::Prepare prepare;
    Timers::Clock::time_point since;
  };
  /// Notes a word of the registrar about `transaction`.
  /// \return whether that is the transaction of this node
  bool HearAbout(std::int64_t transaction);
  void RefuseWaiting();
  /// Reports about a transaction that this node does not take part in now.
  void ReportOf(std::int64_t transaction, wire::TxnReport::Kind kind,
                const std::string& reason = {});
  void OnForgotten(bool stay_paused);

  NodeTransaction::World world_;
  RendezvousRelay& rendezvous_;
  const std::function<void()> send_heartbeat_;
  std::optional<NodeTransaction> txn_;
  std::optional<Waiting> waiting_;
  bool has_left_rows_ = false;  // of the last one, which a full disk has kept
};

}  // namespace tessera::agents
