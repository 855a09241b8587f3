// SPDX-License-Identifier: Apache-2.0
// What nodes report of the transaction, and what it makes them do.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>

#include "agents/move/digest_wire.h"
#include "agents/registrar/transaction_desk.h"
#include "engine/search/fit.h"
#include "engine/txn/participant.h"
#include "ptc/base/overloaded.h"

namespace tessera::agents {
namespace {

using engine::TxnPhase;

/// How many steps after the last decision the state is that is copied while ranks compute: the
/// request has to reach all ranks before the decision of the step after it.
std::int64_t StepsAhead(const Job& job) {
  constexpr double kSecondsToReach = 0.03;
  constexpr std::int64_t kMost = 100;
  const double step = UsualStepSeconds(job);
  if (!(step > 0)) return 1;
  return std::clamp(static_cast<std::int64_t>(std::ceil(kSecondsToReach / step)), std::int64_t{1},
                    kMost);
}

/// How long the registrar waits for the next report of digests while ranks continue.
constexpr auto kDigestPatience = std::chrono::seconds(30);
constexpr auto kStoodStill = std::chrono::seconds(1);  // between two ticks

}  // namespace

Status TransactionDesk::CheckIdle() const {
  if (!txn_) return OkStatus();
  return FailedPrecondition(fmt::format("transaction {} of '{}' is {}: wait for it or cancel it",
                                        txn_->id, txn_->job, ToString(txn_->run->phase())));
}

std::optional<engine::TxnStatus> TransactionDesk::status() const {
  if (txn_) return StatusOf(*txn_, timers_.now());
  return last_;
}

void TransactionDesk::Tick(Clock::time_point now) {
  if (txn_ && txn_->pause_deadline && now > *txn_->pause_deadline) {
    txn_->pause_deadline.reset();
    Feed(
        engine::PauseOverdue{fmt::format("'{}' did not reach a step boundary in time", txn_->job)});
  }
  if (txn_ && txn_->digests_deadline && now > *txn_->digests_deadline) {
    txn_->digests_deadline.reset();
    Feed(engine::DigestsOverdue{});
  }
  FeedSilence(now);
  RepeatRequests(now);
  if (!txn_) EraseLeftRow();
}

void TransactionDesk::GiveUp(Clock::time_point now) {
  if (!txn_ || !txn_->start_watch) return;
  const std::chrono::seconds limit(config_.start_stall_seconds);
  if (const auto found = txn_->start_watch->FindLate(now, limit)) {
    Feed(engine::CancelRequested{LateText(members_, *found)});
  }
}

void TransactionDesk::OnRegister(const wire::Register& m, bool restarted) {
  if (txn_) {
    const auto state = engine::ParseParticipantState(m.transaction_state());
    const bool verified = m.transaction() == txn_->id && state &&
                          (*state == engine::ParticipantState::kVerified ||
                           *state == engine::ParticipantState::kCommitted);
    if (restarted) {
      Feed(engine::NodeRestarted{m.node(), verified});
    } else {
      Feed(engine::NodeReconnected{m.node()});
    }
  }
  if (m.transaction() != 0 && (!txn_ || m.transaction() != txn_->id)) {
    uses_.decisions.SendPastOutcome(m.node(), m);
  }
}

// If it cannot be noted, the next silence or registration of the node tries again.
void TransactionDesk::GiveUpRounds(std::int32_t node, const std::string& reason) {
  const RoundRow row{txn_->id, txn_->run->machine().round(), reason};
  if (PutRound(row)) Feed(engine::NodeGone{node, reason});
}

void TransactionDesk::OnRankLost(std::int32_t node, ptc::DeviceId device,
                                 const wire::RankExited& m) {
  const RankEnd end = m.refused() ? RankEnd::kRefusal : RankEnd::kCrash;
  txn_->lost_ranks.insert_or_assign(device, Txn::LostRank{m.reason(), end});
  Feed(engine::RankLost{node, m.joining(), m.reason()});
}

void TransactionDesk::OnRankLoad(ptc::DeviceId rank, const RankLoading& loading) {
  if (!txn_->start_watch) return;
  txn_->start_watch->Note(rank, loading, timers_.now());
  MarkDirty();
}

void TransactionDesk::OnAborted(std::int64_t transaction, const std::string& why) {
  if (txn_ && txn_->id == transaction) Feed(engine::CancelRequested{why});
}

bool TransactionDesk::HasParticipant(std::int32_t node) const {
  return txn_ && txn_->run->machine().participants().contains(node);
}

void TransactionDesk::OnReport(std::int32_t node, const wire::TxnReport& m) {
  const bool followed =
      m.kind() == wire::TxnReport::COMMITTED || m.kind() == wire::TxnReport::ABORTED;
  if (!txn_ || txn_->id != m.transaction()) {
    // The participant was disconnected when the others received Go.
    if (!followed) return;
    wire::ToNode go;
    go.mutable_go()->set_transaction(m.transaction());
    go.mutable_go()->set_stay_paused(IsPausedSince(m.transaction()));
    return static_cast<void>(SendTo(node, go));
  }
  if (!HasParticipant(node)) return;
  switch (m.kind()) {
    case wire::TxnReport::PREPARED:
      if (txn_->start_watch) txn_->start_watch->NodeReady(node);
      if (m.exchange()) txn_->exchanging.insert(node);
      return Feed(engine::NodePrepared{node, m.can_precopy(), m.can_follow()});
    case wire::TxnReport::REACHED:
      NoteKeeping(m.round(), m.kept_seconds());
      return Feed(engine::NodeReached{node, m.round()});
    case wire::TxnReport::PRECOPIED:
      return Feed(engine::NodePrecopied{node, m.round(), m.is_whole()});
    case wire::TxnReport::REFUSED:
      return Feed(engine::NodeRefused{node, m.reason()});
    case wire::TxnReport::PAUSED:
      if (m.pending().step() > txn_->followed.step()) txn_->pending = m.pending();
      // A request that came late finds the ranks one step further than what was copied.
      Feed(engine::NodePaused{node, m.step(), m.has_pending() && m.step() == txn_->copied_step});
      return NotePaused();
    case wire::TxnReport::TRANSFERRED:
      if (txn_->run->machine().waiting_for().contains(node)) {
        auto digests = Decode(m.digests());
        if (m.has_digests() && digests) txn_->digests.insert_or_assign(node, std::move(*digests));
        txn_->checksums_equal += m.checksums_equal();
      }
      return Feed(engine::NodeTransferred{node});
    case wire::TxnReport::TRANSFER_FAILED:
      return Feed(engine::NodeTransferFailed{node, m.reason()});
    case wire::TxnReport::VERIFIED:
      return Feed(engine::NodeVerified{node});
    case wire::TxnReport::MOVED: {
      for (const wire::DeviceExtra& extra : m.extra()) NoteExtra(extra);
      const int before = txn_->run->machine().round();
      Feed(engine::NodeMoved{node, m.round()});
      if (txn_ && txn_->run->machine().round() != before) {
        txn_->repeats = Repetition(timers_.now());
        MarkDirty();
        world_.fault_point("registrar.round");
      }
      return;
    }
    case wire::TxnReport::GONE:
      if (txn_->run->machine().round() == 0) return;
      return GiveUpRounds(node,
                          fmt::format("n{} has come back without the state that it held", node));
    case wire::TxnReport::ABORTED:
      // It gave up waiting, and wrote that to a register that nodes reach by themselves.
      if (txn_->run->machine().can_cancel()) {
        return Feed(engine::CancelRequested{fmt::format("n{} gave up waiting", node)});
      }
      return Feed(engine::NodeFollowed{node});
    case wire::TxnReport::COMMITTED:
      return Feed(engine::NodeFollowed{node});
    default:
      return;
  }
}

void TransactionDesk::NoteExtra(const wire::DeviceExtra& extra) {
  const auto device = Decode(extra.device());
  for (engine::ExtraMemory& known : txn_->entry.in_rounds.extra) {
    if (device && known.device == *device) {
      known.measured = std::max(known.measured, extra.bytes());
    }
  }
}

// The ranks make the update before which they have waited, and go on.
void TransactionDesk::NoteLeg(int leg) {
  if (leg <= txn_->leg) return;
  const auto now = timers_.now();
  txn_->leg = leg;
  txn_->keeping = 0;
  ++txn_->copied_step;
  txn_->followed = std::exchange(txn_->pending, {});
  txn_->repeats = Repetition(now);
  txn_->EndPause(now);
  const Job* const job = jobs_.Find(txn_->job);
  if (job)
    txn_->pause_deadline =
        now + PauseDeadline(*job, txn_->copied_step + 1, txn_->planned.summary.from_step_seconds);
  MarkDirty();
  world_.fault_point("registrar.leg");
}

// Ranks have waited so long until their gradients were kept.
void TransactionDesk::NoteKeeping(int leg, double seconds) {
  if (leg != txn_->leg || seconds <= txn_->keeping) return;
  txn_->pause += seconds - std::exchange(txn_->keeping, seconds);
}

void TransactionDesk::NotePaused() {
  if (!txn_ || txn_->paused_since || !txn_->run->machine().has_paused()) return;
  txn_->paused_since = timers_.now();
  txn_->pause_deadline.reset();
}

void TransactionDesk::OnProgress(std::int32_t node, const wire::TxnProgress& m) {
  if (!HasParticipant(node) || txn_->id != m.transaction()) return;
  const auto now = timers_.now();
  const TxnPhase phase = txn_->run->phase();
  const bool transferring = phase == TxnPhase::kTransferring || phase == TxnPhase::kPrecopying;
  std::int64_t& gradients = txn_->gradients[node];
  gradients = std::max(gradients, m.gradients_done());
  const std::chrono::duration<double> elapsed = now - txn_->phase_began;
  txn_->count.Note(node, m, transferring ? elapsed.count() : 0);
  // Only the estimate of the remaining time is limited to the plan, the count is not.
  txn_->progress.Update(
      std::min(txn_->count.bytes() - txn_->moved_before, txn_->progress.bytes_total()), now);
  MarkDirty();
}

void TransactionDesk::OnStateDigests(std::int32_t node, const wire::StateDigests& m) {
  if (!HasParticipant(node) || txn_->id != m.transaction() ||
      !txn_->run->machine().awaits_digests()) {
    return;
  }
  auto digests = Decode(m.sides());
  const bool has_digests = m.error().empty() && digests.has_value();
  if (has_digests) {
    txn_->digests.insert_or_assign(node, std::move(*digests));
    txn_->digests_deadline = timers_.now() + kDigestPatience;
  } else {
    txn_->no_digests[node] = digests ? m.error() : digests.error().ToString();
  }
  Feed(engine::NodeDigested{node, has_digests});
}

// In a round, others fetch cells from a node that has answered. It may have lost its memory since,
// or its agent has restarted and offers them once it hears of the round.
std::set<std::int32_t> TransactionDesk::Needed() const {
  const engine::Coordinator& machine = txn_->run->machine();
  return machine.round() > 0 ? machine.participants() : machine.waiting_for();
}

// When a node of the job ends, the ranks of others end as well, which shows at once. The end of a
// node that only joins does not, and the job may be paused for it. Until the decision a false alarm
// costs a rollback.
bool TransactionDesk::IsSuspectJoiner(const Membership::Node& node) const {
  const Job* const job = jobs_.Find(txn_->job);
  return node.state == engine::NodeState::kSuspect && !txn_->recovery && job &&
         !NodesOf(job->layout.mesh()).contains(node.number) &&
         txn_->run->phase() < TxnPhase::kCommitting && txn_->run->machine().round() == 0;
}

void TransactionDesk::FeedSilence(Clock::time_point now) {
  // What was sent while this process stood still is yet to be read.
  const bool stood_still = now - std::exchange(looked_, now) > kStoodStill;
  if (!txn_) return;
  for (const std::int32_t number : Needed()) {
    const Membership::Node* node = members_.Find(number);
    if (!node || !txn_) continue;
    const bool is_suspect = !stood_still && IsSuspectJoiner(*node);
    if (!Membership::IsSilent(*node) && !is_suspect) continue;
    const bool is_lost = node->state == engine::NodeState::kDead;  // and not only out of reach
    if (is_lost && txn_->run->machine().round() > 0) {
      GiveUpRounds(number, members_.SilentText(*node));
    } else {
      Feed(engine::NodeSilent{number, members_.SilentText(*node)});
    }
  }
}

void TransactionDesk::RepeatRequests(Clock::time_point now) {
  if (!txn_ || !txn_->repeats.IsDue(now)) return;
  for (const std::int32_t number : Needed()) {
    const Membership::Node* const node = members_.Find(number);
    if (!txn_ || !node || node->state != engine::NodeState::kAlive) continue;
    // Prepare may be large, and takes long to carry out.
    const bool has_it = txn_->run->phase() == TxnPhase::kPreparing && node->transaction == txn_->id;
    if (!has_it) Feed(engine::NodeReconnected{number});
  }
}

bool TransactionDesk::IsPausedSince(std::int64_t transaction) {
  std::string name;
  if (const auto* kept = publisher_.FindKept(transaction)) {
    name = kept->job;
  } else if (const auto found = world_.history.Transaction(transaction); found && *found) {
    name = (*found)->job;
  }
  const Job* job = jobs_.Find(name);
  return job && job->state == engine::JobState::kPaused;
}

void TransactionDesk::Feed(engine::CoordinatorEvent event) {
  if (txn_) txn_->run->Feed(std::move(event));
}

std::unique_ptr<TransactionRun> TransactionDesk::MakeRun(engine::Coordinator machine) {
  TransactionRun::Terms terms;
  terms.id = txn_->id;
  terms.job = txn_->job;
  terms.slot = txn_->slot;
  terms.epoch = txn_->epoch;
  terms.layout_hash = ptc::Hex16(txn_->planned.plan.to_hash);
  if (txn_->hand_in) terms.step_after = txn_->hand_in->step;
  TransactionRun::World world;
  world.send = [this](const engine::CoordinatorAction& action) { return SendRequest(action); };
  world.compare = [this] { return Compare(); };
  world.adopt = [this](const engine::Decision& decision) { Adopt(decision); };
  world.phase_changed = [this](TxnPhase before) {
    OnPhaseChanged(before);
    world_.fault_point("registrar." + std::string(ToString(txn_->run->phase())));
  };
  world.finished = [this](bool committed, const std::string& reason) { Finish(committed, reason); };
  world.after = [this](std::chrono::milliseconds delay, std::function<void()> then) {
    timers_.After(delay, std::move(then));
  };
  world.note = [this](engine::Severity severity, const std::string& text) {
    AddEvent(severity, fmt::format("txn {}", txn_->id), text);
  };
  return std::make_unique<TransactionRun>(std::move(terms), std::move(machine),
                                          uses_.decisions.decision_register(), std::move(world));
}

void TransactionDesk::OnPhaseChanged(TxnPhase before) {
  const auto now = timers_.now();
  const double seconds = std::chrono::duration<double>(now - txn_->phase_began).count();
  if (before != TxnPhase::kPlanned && !txn_->resumed)
    txn_->entry.phases[std::string(ToString(before))] += seconds;
  txn_->phase_began = now;
  txn_->repeats = Repetition(now);
  const TxnPhase phase = txn_->run->phase();
  if (phase != TxnPhase::kPreparing) txn_->start_watch.reset();
  const std::string source = fmt::format("txn {}", txn_->id);
  if (phase == TxnPhase::kTransferring && txn_->run->machine().round() > 0) {
    AddEvent(engine::Severity::kInfo, source,
             fmt::format("decided: no rollback from here; moving in {} rounds",
                         txn_->run->machine().rounds()));
  } else if (phase == TxnPhase::kTransferring) {
    around_.transfer_begins(txn_->job);
    if (!txn_->recovery && !txn_->paused_since) txn_->paused_since = now;
    txn_->pause_deadline.reset();
    const std::int64_t step = *txn_->run->machine().step();
    const bool is_copied = txn_->pending.step() != 0 && step == txn_->copied_step &&
                           !txn_->run->machine().copies_anew();
    if (!is_copied) {
      txn_->progress = engine::Progress(txn_->planned.plan.bytes.moved(), now);
      txn_->moved_before = txn_->count.bytes();
    }
    // The decision of the step whose update is pending is known already.
    Job* const job = jobs_.Find(txn_->job);
    if (job && (txn_->pending.step() == 0 || job->step < step)) job->step = step;
    // Ranks that leave know this step's report, those that join do not.
    uses_.steps.Flush();
    AddEvent(engine::Severity::kInfo, source,
             is_copied
                 ? fmt::format("paused before the update of step {}; transferring its gradients",
                               txn_->pending.step())
                 : fmt::format("paused after step {}; transferring {}", step,
                               engine::BytesText(txn_->planned.plan.bytes.moved())));
  } else if (phase == TxnPhase::kPrecopying) {
    txn_->progress = engine::Progress(txn_->planned.plan.bytes.moved(), now);
    Job* const job = jobs_.Find(txn_->job);
    // The gradients of the step after which the new ranks continue are those of the old ranks, as
    // in the plain way.
    txn_->copied_step = txn_->at_step - txn_->run->machine().legs();
    if (job && txn_->copied_step < job->step) txn_->copied_step = job->step + StepsAhead(*job);
    if (job)
      txn_->pause_deadline =
          now + PauseDeadline(*job, txn_->copied_step + 1, txn_->planned.summary.from_step_seconds);
    AddEvent(
        engine::Severity::kInfo, source,
        txn_->run->machine().legs() == 1
            ? fmt::format("prepared: all ranks started, groups connected; the state after step {} "
                          "is copied while the job computes",
                          txn_->copied_step)
            : fmt::format("prepared: all ranks started, groups connected; from the state after "
                          "step {} on, it is copied over {} steps while the job computes",
                          txn_->copied_step, txn_->run->machine().legs()));
  } else if (phase == TxnPhase::kPausing && before == TxnPhase::kPreparing) {
    const Job* job = jobs_.Find(txn_->job);
    if (job)
      txn_->pause_deadline =
          now + PauseDeadline(*job, txn_->at_step, txn_->planned.summary.from_step_seconds);
    AddEvent(engine::Severity::kInfo, source,
             Exchanges() ? "prepared: all ranks started, groups connected; cells between nodes go "
                           "from GPU to GPU, by NCCL"
                         : "prepared: all ranks started, groups connected");
  } else if (phase == TxnPhase::kRollingBack) {
    AddEvent(engine::Severity::kWarning, source, "rolling back: " + txn_->run->machine().reason());
  }
  MarkDirty();
  publisher_.PublishState(timers_.now());
}

// Only what moves in the pause: while ranks compute, or in rounds, a node may begin again alone.
bool TransactionDesk::CanExchange() const {
  const auto& machine = txn_->run->machine();
  const bool is_stored = txn_->hand_in || txn_->checkpoint() != nullptr ||
                         (txn_->recovery && txn_->recovery->steps_lost);
  if (is_stored || machine.precopies() || machine.rounds() > 0) return false;
  if (txn_->planned.plan.bytes.network == 0) return false;
  std::set<std::string> versions, hosts;
  for (const std::int32_t number : machine.participants()) {
    const Membership::Node* const node = members_.Find(number);
    versions.insert(node != nullptr ? node->nccl : "");
    hosts.insert(node != nullptr ? node->peer.host() : "");
  }
  return hosts.size() > 1 && versions.size() == 1 && !versions.contains("");
}

bool TransactionDesk::Exchanges() const {
  // Only lanes can be limited.
  return txn_->throttle == 0 && txn_->exchanging == txn_->run->machine().participants();
}

std::shared_ptr<const wire::ToNode> TransactionDesk::Prepared() {
  if (txn_->prepare && txn_->peers_revision == members_.peers_revision()) return txn_->prepare;
  wire::ToNode m = PrepareMessage(*txn_, *jobs_.Find(txn_->job),
                                  members_.PeersFor({txn_->job, txn_->id, txn_->id}));
  if (const engine::LaneUse use = uses_.links.use(); use.lanes > 0) {
    m.mutable_prepare()->mutable_lane_use()->set_lanes(use.lanes);
    m.mutable_prepare()->mutable_lane_use()->set_frame_bytes(use.frame_bytes);
  }
  if (!txn_->may_exchange) txn_->may_exchange = CanExchange();
  m.mutable_prepare()->set_exchange(*txn_->may_exchange);
  uses_.documents.Shorten(m);
  txn_->prepare = std::make_shared<const wire::ToNode>(std::move(m));
  txn_->peers_revision = members_.peers_revision();
  return txn_->prepare;
}

Status TransactionDesk::SendRequest(const engine::CoordinatorAction& action) {
  const std::int64_t id = txn_->id;
  if (const auto* outcome = std::get_if<engine::SendOutcome>(&action)) {
    TESSERA_RETURN_IF_ERROR(NoteRound(*outcome));
  }
  wire::ToNode m;
  const std::int32_t node = std::visit(
      Overloaded{
          [&](const engine::SendPrepare& a) { return a.node; },
          [&](const engine::SendPause& a) {
            NoteLeg(a.leg);
            m.mutable_pause_txn()->set_transaction(id);
            m.mutable_pause_txn()->set_leg(a.leg);
            m.mutable_pause_txn()->set_at_step(a.before_update ? txn_->copied_step : txn_->at_step);
            m.mutable_pause_txn()->set_before_update(a.before_update);
            return a.node;
          },
          [&](const engine::SendPrecopy& a) {
            m.mutable_transfer()->set_transaction(id);
            m.mutable_transfer()->set_step(txn_->copied_step);
            m.mutable_transfer()->set_throttle(txn_->throttle);
            m.mutable_transfer()->set_precopy(true);
            m.mutable_transfer()->set_leg(a.leg);
            m.mutable_transfer()->set_legs(a.legs);
            if (a.leg > 1) *m.mutable_transfer()->mutable_pending() = txn_->followed;
            return a.node;
          },
          [&](const engine::SendTransfer& a) {
            m.mutable_transfer()->set_transaction(id);
            m.mutable_transfer()->set_step(a.step);
            m.mutable_transfer()->set_throttle(txn_->throttle);
            m.mutable_transfer()->set_exchange(Exchanges());
            m.mutable_transfer()->set_anew(a.anew);
            if (txn_->pending.step() != 0) {
              *m.mutable_transfer()->mutable_pending() = txn_->pending;
            }
            return a.node;
          },
          [&](const engine::SendVerify& a) {
            m.mutable_verify()->set_transaction(id);
            return a.node;
          },
          [&](const engine::SendOutcome& a) {
            m.mutable_outcome()->set_transaction(id);
            m.mutable_outcome()->set_value(ToText(*txn_->run->decision()));
            m.mutable_outcome()->set_round(a.round);
            m.mutable_outcome()->set_settled(a.settled);
            // An agent that has restarted since Prepare is reached in another way.
            if (a.round > 0 && txn_->peers_revision != members_.peers_revision()) {
              *m.mutable_outcome()->mutable_peers() = members_.PeersFor({txn_->job, id, id});
            }
            return a.node;
          },
          [&](const engine::SendGo& a) {
            NoteResumed();
            m.mutable_go()->set_transaction(id);
            m.mutable_go()->set_stay_paused(txn_->was_paused);
            return a.node;
          },
          [&](const engine::AskDigests& a) {
            m.mutable_ask_state_digests()->set_transaction(id);
            return a.node;
          },
          [&](const auto&) { return -1; },  // TransactionRun carries these out itself
      },
      action);
  const bool is_prepare = std::holds_alternative<engine::SendPrepare>(action);
  const Status sent = is_prepare ? SendTo(node, Prepared()) : SendTo(node, m);
  if (!sent) {
    world_.print(fmt::format("txn {}: {}", id, sent.error().ToString()));
  }
  return sent;
}

engine::DigestsCompared TransactionDesk::Compare() {
  txn_->entry.bytes_moved = txn_->count.bytes();
  txn_->entry.gradients_moved = txn_->gradients_done();
  // The job goes on after the step of what was handed in, wherever its old ranks have paused.
  const std::int64_t step = txn_->hand_in ? txn_->hand_in->step : *txn_->run->machine().step();
  txn_->entry.step = std::max(step, txn_->pending.step());
  if (txn_->reads_all()) {
    for (const std::int32_t node : NodesOf(txn_->planned.to.mesh())) {
      const auto found = txn_->digests.find(node);
      if (found != txn_->digests.end() && found->second.has_after) continue;
      return {false, fmt::format("n{} reported no digests", node)};
    }
    const StateComparison states = CompareStates(*txn_);
    AskAbout(states);
    if (!states.differing_before.empty()) return {false, DifferenceText(states.differing_before)};
    if (!states.differing_after.empty()) return {false, DifferenceText(states.differing_after)};
    if (!states.difference.empty()) return {false, states.difference};
  } else {
    // Nodes have read the replicas that the change drops, while the ranks computed or in the pause.
    StateComparison states;
    states.differing_before = DifferingBefore(*txn_);
    AskAbout(states);
    if (!states.differing_before.empty()) {
      const std::string text = DifferenceText(states.differing_before);
      if (!txn_->recovery) return {false, text};
      // Without it the job would not run at all.
      AddEvent(engine::Severity::kError, fmt::format("txn {}", txn_->id), text);
      txn_->replicas_differ = true;
    }
  }
  // Recorded before the decision, so that a restarted registrar finds the bytes and the digests.
  publisher_.Record(txn_->entry);
  return {true, {}};
}

void TransactionDesk::AskAbout(const StateComparison& states) {
  const std::vector<ptc::DeviceId> lost =
      txn_->recovery ? txn_->recovery->lost : std::vector<ptc::DeviceId>();
  // What differed before also differs afterwards.
  const bool before = !states.differing_before.empty();
  const auto& differing = before ? states.differing_before : states.differing_after;
  if (differing.empty()) return;
  uses_.replicas.Ask({txn_->id, *txn_->from, txn_->planned.to, lost, before}, differing);
}

void TransactionDesk::NoteResumed() {
  const auto now = timers_.now();
  txn_->EndPause(now);
  if (!txn_->run->machine().awaits_digests() || txn_->resumed) return;
  txn_->resumed = true;
  const std::chrono::duration<double> seconds = now - txn_->phase_began;
  txn_->entry.phases[std::string(ToString(TxnPhase::kResuming))] += seconds.count();
  txn_->digests_deadline = now + kDigestPatience;
  txn_->repeats = Repetition(now);
}

std::string TransactionDesk::NoteDigests() {
  if (!txn_->from) {  // the agents do not wait for a registrar that has restarted
    return txn_->entry.digest_after.empty() ? "its digests are not known" : "digests equal";
  }
  if (!txn_->reads_all()) {
    std::string missing;
    for (const std::int32_t node : NodesOf(txn_->planned.to.mesh())) {
      const auto found = txn_->digests.find(node);
      if (found != txn_->digests.end() && found->second.has_after) continue;
      const auto why = txn_->no_digests.find(node);
      if (!missing.empty()) missing += "; ";
      missing += fmt::format("n{} gave none", node);
      if (why != txn_->no_digests.end()) missing += ": " + why->second;
    }
    if (!missing.empty()) {
      txn_->entry.digest_before.clear();
      txn_->entry.digest_after.clear();
      return fmt::format("its digests are not known ({})", missing);
    }
    const StateComparison states = CompareStates(*txn_);
    if (!states.differing_after.empty()) {
      AddEvent(engine::Severity::kError, fmt::format("txn {}", txn_->id),
               DifferenceText(states.differing_after));
      AskAbout(states);
      return "replicas differ";
    }
    if (!states.difference.empty()) return states.difference;
  }
  if (txn_->replicas_differ) return "replicas differ";
  return "digests equal";
}

}  // namespace tessera::agents
