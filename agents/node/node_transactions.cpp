// SPDX-License-Identifier: Apache-2.0
#include "agents/node/node_transactions.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "engine/txn/decision.h"

namespace tessera::agents {

NodeTransactions::NodeTransactions(NodeTransaction::World world, RendezvousRelay& rendezvous,
                                   std::function<void()> send_heartbeat)
    : world_(std::move(world)),
      rendezvous_(rendezvous),
      send_heartbeat_(std::move(send_heartbeat)) {
  world_.forgotten = [this](bool stay_paused, bool has_rows) {
    has_left_rows_ = has_rows;
    OnForgotten(stay_paused);
  };
}

Status NodeTransactions::Recover() {
  TESSERA_TRY(const auto kept, TransactionPart::Load(*world_.machine.journal));
  if (!kept) return OkStatus();
  wire::Prepare prepare;
  const auto damaged = [](const std::string& why) {
    return DataLoss(fmt::format("journal row 'txn/prepare' is damaged: {}", why));
  };
  if (!prepare.ParseFromString(kept->prepare) || prepare.transaction() != kept->id) {
    return damaged(fmt::format("it is not the message of transaction {}", kept->id));
  }
  txn_.emplace(world_, prepare, kept->state, kept->moved);
  // The message was built before it was journaled.
  if (const Status built = txn_->Recover(); !built) return damaged(built.error().message);
  return OkStatus();
}

// ---- messages of the registrar

bool NodeTransactions::HearAbout(std::int64_t transaction) {
  if (!txn_ || txn_->prepare().transaction() != transaction) return false;
  txn_->NoteWord();
  return true;
}

void NodeTransactions::OnPrepare(const wire::Prepare& message) {
  if (HearAbout(message.transaction())) return txn_->Feed(engine::PrepareRequested{});
  if (txn_) {
    // The registrar begins a transaction only after the one before is decided.
    const bool is_repeated = waiting_ && waiting_->prepare.transaction() == message.transaction();
    if (!is_repeated) waiting_ = {message, world_.timers.now()};
    return txn_->Feed(engine::NoWord{});
  }
  txn_.emplace(world_, message);
  txn_->Feed(engine::PrepareRequested{});
}

void NodeTransactions::OnPauseTxn(const wire::PauseTxn& message) {
  if (!HearAbout(message.transaction())) return;
  txn_->Feed(engine::PauseRequested{message.at_step(), message.before_update(),
                                    std::max(1, message.leg())});
}

void NodeTransactions::OnTransfer(const wire::Transfer& message) {
  if (!HearAbout(message.transaction())) return;
  world_.machine.limit_lanes(message.throttle());
  if (message.precopy()) {
    return txn_->OnPrecopy(
        {message.step(), std::max(1, message.leg()), std::max(1, message.legs())},
        message.pending());
  }
  txn_->OnTransfer(message);
}

void NodeTransactions::OnThrottle(const wire::Throttle& message) {
  if (HearAbout(message.transaction())) world_.machine.limit_lanes(message.bytes_per_second());
}

void NodeTransactions::OnVerify(const wire::Verify& message) {
  if (HearAbout(message.transaction())) txn_->Feed(engine::VerifyRequested{});
}

void NodeTransactions::OnOutcome(const wire::Outcome& message) {
  if (waiting_ && waiting_->prepare.transaction() == message.transaction()) waiting_.reset();
  const auto decision = engine::ParseDecision(message.value());
  if (!decision) {
    return world_.uplink.ReportNodeEvent(
        engine::Severity::kError,
        fmt::format("transaction {}: {}", message.transaction(), decision.error().ToString()));
  }
  if (HearAbout(message.transaction())) {
    txn_->SetPeers(message.peers());
    return txn_->OnDecision(*decision, message.round(), message.settled());
  }
  if (message.round() > 0 &&
      !TransactionPart::HasEnded(*world_.machine.journal, message.transaction())) {
    return ReportOf(message.transaction(), wire::TxnReport::GONE);
  }
  // This node has followed the outcome and forgotten the transaction, or it never prepared it,
  // which is possible only for an aborted one. In both cases the outcome holds here.
  ReportOf(message.transaction(),
           decision->commit ? wire::TxnReport::COMMITTED : wire::TxnReport::ABORTED);
  world_.pauses.ReportAll();  // the registrar may have restarted and forgotten the pauses
}

void NodeTransactions::OnGo(const wire::Go& message) {
  if (HearAbout(message.transaction())) txn_->OnGo(message.stay_paused());
}

void NodeTransactions::OnDecided(const wire::Decided& message) {
  if (!Changes(message.job()) || txn_->prepare().slot() != message.slot()) return;
  txn_->NoteWord();
  if (message.value().empty()) return;  // not decided yet
  const auto decision = engine::ParseDecision(message.value());
  if (decision) return txn_->OnDecision(*decision);
  world_.uplink.ReportNodeEvent(engine::Severity::kError, decision.error().ToString());
}

void NodeTransactions::ReportOf(std::int64_t transaction, wire::TxnReport::Kind kind,
                                const std::string& reason) {
  wire::FromNode message;
  message.mutable_txn()->set_transaction(transaction);
  message.mutable_txn()->set_kind(kind);
  message.mutable_txn()->set_reason(reason);
  world_.uplink.Send(std::move(message));
}

void NodeTransactions::OnForgotten(bool stay_paused) {
  rendezvous_.Forget(txn_->prepare().job(), txn_->prepare().attempt());
  txn_.reset();
  world_.machine.limit_lanes(0);
  send_heartbeat_();
  if (const auto next = std::exchange(waiting_, std::nullopt)) {
    world_.timers.Post([this, prepare = next->prepare] { OnPrepare(prepare); });
  }
  // Pauses during the transaction were not reported. A job that was paused before it is known to
  // the registrar, which may already be resuming it.
  if (!stay_paused) world_.pauses.ReportAll();
}

// ---- ranks

void NodeTransactions::OnRankAttached(const RankId& id) {
  if (Changes(id.job)) txn_->OnRankAttached();
}

void NodeTransactions::OnRankConnected(const RankId& id, const Attempt& reached,
                                       const Status& status) {
  if (Changes(id.job)) txn_->OnRankConnected(reached, status);
}

bool NodeTransactions::OnRankAdopted(const RankId& id, std::int64_t epoch) {
  if (!Changes(id.job) || txn_->prepare().epoch() != epoch) return false;
  txn_->OnRankAdopted();
  return true;
}

void NodeTransactions::OnRankDecided(const std::string& job) {
  if (Changes(job)) txn_->OnRankDecided();
}

void NodeTransactions::OnRankEnded() {
  if (txn_) txn_->OnRankEnded();
}

// ---- time

void NodeTransactions::Beat() {
  if (txn_) return txn_->Beat();
  // An agent after this one could take the rows for those of a later job.
  if (has_left_rows_ && TransactionPart::Clear(*world_.machine.journal)) has_left_rows_ = false;
}

void NodeTransactions::RepeatReport() {
  if (txn_) txn_->RepeatReport();
}

void NodeTransactions::SendProgress() {
  if (txn_) txn_->SendProgress();
}

void NodeTransactions::AskAfterSilence(Timers::Clock::time_point last_message) {
  constexpr auto kNoWord = std::chrono::seconds(5);
  constexpr auto kSilence = std::chrono::seconds(15);
  if (!txn_) return;
  const auto now = world_.timers.now();
  if (waiting_ && now - waiting_->since > kSilence) RefuseWaiting();
  if (now - last_message > kSilence) return txn_->Feed(engine::RegistrarSilent{});
  if (now - txn_->last_word() > kNoWord) txn_->Feed(engine::NoWord{});
}

void NodeTransactions::RefuseWaiting() {
  const std::int64_t refused = waiting_->prepare.transaction();
  waiting_.reset();
  ReportOf(refused, wire::TxnReport::REFUSED,
           fmt::format("transaction {} is still {} here", txn_->prepare().transaction(),
                       ToString(txn_->state())));
}

}  // namespace tessera::agents
