// SPDX-License-Identifier: Apache-2.0
#include "agents/node/node_transaction.h"

#include <fmt/format.h>

#include <utility>

#include "agents/node/node_views.h"
#include "agents/node/step_words.h"
#include "agents/wire/convert.h"
#include "agents/wire/utf8.h"

namespace tessera::agents {
namespace {

wire::TxnReport::Kind KindOf(engine::ReportKind kind) {
  switch (kind) {
    case engine::ReportKind::kPrepared:
      return wire::TxnReport::PREPARED;
    case engine::ReportKind::kRefused:
      return wire::TxnReport::REFUSED;
    case engine::ReportKind::kPaused:
      return wire::TxnReport::PAUSED;
    case engine::ReportKind::kTransferred:
      return wire::TxnReport::TRANSFERRED;
    case engine::ReportKind::kTransferFailed:
      return wire::TxnReport::TRANSFER_FAILED;
    case engine::ReportKind::kVerified:
      return wire::TxnReport::VERIFIED;
    case engine::ReportKind::kCommitted:
      return wire::TxnReport::COMMITTED;
    case engine::ReportKind::kAborted:
      return wire::TxnReport::ABORTED;
    case engine::ReportKind::kReached:
      return wire::TxnReport::REACHED;
    case engine::ReportKind::kPrecopied:
      return wire::TxnReport::PRECOPIED;
    case engine::ReportKind::kMoved:
      return wire::TxnReport::MOVED;
  }
  return wire::TxnReport::REFUSED;
}

/// How long a change waits for the memory of its new pieces. A machine that has little left may
/// never finish.
constexpr auto kLongestWarming = std::chrono::seconds(20);
/// How long a change waits for ranks to attach to an agent that has just returned. They try again
/// every second at most.
constexpr auto kLongestAttaching = std::chrono::seconds(5);

TransactionPart::Terms TermsOf(const wire::Prepare& p) {
  return {p.transaction(), p.job(), p.slot(), ptc::Hex16(p.to_hash()), p.rounds_size()};
}

}  // namespace

NodeTransaction::NodeTransaction(const World& world, const wire::Prepare& prepare,
                                 std::optional<engine::ParticipantState> recovered, int moved)
    : world_(world),
      change_(prepare),
      ranks_(change_, world.ranks, world.jobs, world.starter, world.links),
      transfer_(change_, world.jobs.node(), world.machine, world.devices, world.digests,
                world.uplink),
      meeting_(change_, world.jobs.node(), world.machine, world.timers, world.rendezvous,
               world.uplink),
      adoption_(change_, world.timers, world.devices, world.ranks, world.jobs, world.links,
                world.uplink),
      part_(MakePart(recovered, moved)) {
  NoteWord();
}

TransactionPart NodeTransaction::MakePart(std::optional<engine::ParticipantState> recovered,
                                          int moved) {
  engine::DurableStore& journal = *world_.machine.journal;
  if (!recovered) return {TermsOf(prepare()), journal, WorldOfPart()};
  return {TermsOf(prepare()), *recovered, journal, WorldOfPart(), moved};
}

Status NodeTransaction::Recover() {
  TESSERA_RETURN_IF_ERROR(change_.Build(*world_.machine.memo));
  change_.Recover(world_.devices);
  return OkStatus();
}

void NodeTransaction::NoteWord() {
  last_word_ = world_.timers.now();
  repeats_ = Repetition(last_word_);
}

// ---- what the part decides

TransactionPart::World NodeTransaction::WorldOfPart() {
  TransactionPart::World world;
  world.prepare = [this] { return change_.TakeText(); };
  world.check = [this] { return CheckAndReserve(); };
  world.connect = [this] { ConnectRanks(); };
  world.raise_request = [this](const engine::RaiseRequest& request) { RaiseRequest(request); };
  world.precopy = [this](const engine::RunPrecopy& leg, const wire::StepDecision& followed) {
    RunPrecopy(leg, followed);
  };
  world.transfer = [this](std::int64_t step, const wire::StepDecision& pending, bool anew) {
    RunTransfer(step, pending, anew);
  };
  world.round = [this](int round, std::int64_t step) { RunRound(round, step); };
  world.offer_round = [this](int round, std::int64_t step) { OfferRound(round, step); };
  world.settle = [this](int rounds, std::int64_t step) { Settle(rounds, step); };
  world.report = [this](const engine::Report& report) { SendReport(report); };
  world.flip = [this](std::int64_t step) { Flip(step); };
  world.clean_up = [this] { CleanUp(); };
  world.release = [this](bool stay_paused) { Release(stay_paused); };
  world.resume_old = [this](bool stay_paused) {
    const auto number = static_cast<std::uint64_t>(prepare().transaction());
    world_.pauses.EndRequest(prepare().job(), number, stay_paused);
  };
  world.ask = [this](bool write_abort) { Ask(write_abort); };
  world.forgotten = [this](bool stay_paused, bool has_rows) {
    transfer_.Withdraw();
    world_.forgotten(stay_paused, has_rows);
  };
  world.halt = [this](const std::string& why) { Halt(why); };
  world.note_error = [this](const std::string& text) {
    world_.uplink.ReportNodeEvent(engine::Severity::kError, text);
  };
  world.fault_point = world_.machine.fault_point;
  return world;
}

Status NodeTransaction::CheckAndReserve() {
  // A disk that becomes full during the transaction must not keep it from ending.
  TESSERA_RETURN_IF_ERROR(world_.machine.journal->Reserve());
  TESSERA_RETURN_IF_ERROR(change_.Build(*world_.machine.memo));
  const wire::Prepare& p = prepare();
  TESSERA_RETURN_IF_ERROR(
      change_.Allocate(world_.devices, world_.jobs.Find(p.job()) != nullptr, *world_.machine.memo));
  if (!change_.why_plain().empty()) {
    world_.uplink.ReportNodeEvent(
        engine::Severity::kWarning,
        fmt::format("transaction {} of '{}': all state moves in the pause: {}", p.transaction(),
                    p.job(), change_.why_plain()));
  }
  if (!change_.why_one_leg().empty()) {
    world_.uplink.ReportNodeEvent(
        engine::Severity::kWarning,
        fmt::format("transaction {} of '{}': all state is copied in one step: {}", p.transaction(),
                    p.job(), change_.why_one_leg()));
  }
  transfer_.Warm([this] { CheckConnected(); });
  if (transfer_.is_warming()) {
    world_.timers.After(kLongestWarming, [this, alive = std::weak_ptr(alive_)] {
      if (alive.expired()) return;
      waits_for_memory_ = false;
      CheckConnected();
    });
  }
  return world_.machine.write_job_files(p.job(), p.settings(), change_.to());
}

void NodeTransaction::ConnectRanks() {
  waits_for_ranks_ = true;
  if (!ranks_.AreAttaching()) return ConnectAwaited();
  world_.timers.After(kLongestAttaching, [this, alive = std::weak_ptr(alive_)] {
    if (!alive.expired()) ConnectAwaited();
  });
}

// A change that was refused has no new layout, and awaits no ranks.
void NodeTransaction::CheckAttached() {
  if (waits_for_ranks_ && !ranks_.AreAttaching()) ConnectAwaited();
}

void NodeTransaction::ConnectAwaited() {
  if (!std::exchange(waits_for_ranks_, false)) return;
  if (Status status = ranks_.Connect(); !status) {
    return Feed(engine::RanksConnected{std::move(status)});
  }
  meeting_.Begin([this] { CheckConnected(); });
}

// The job trains until all of it is there.
void NodeTransaction::CheckConnected() {
  if (waits_for_memory_ && transfer_.is_warming()) return;
  if (ranks_.AreConnected() && meeting_.is_over()) Feed(engine::RanksConnected{OkStatus()});
}

void NodeTransaction::OnTransfer(const wire::Transfer& message) {
  if (message.exchange()) transfer_.UseExchange(meeting_.exchange());
  part_.OnTransfer(message.step(), message.pending(), message.anew());
}

void NodeTransaction::RaiseRequest(const engine::RaiseRequest& request) {
  if (request.leg == leg_ && !saves_) return Raise(request);
  if (request.leg <= leg_) return;  // said again
  leg_ = request.leg;
  saves_ = true;
  world_.machine.fault_point("participant.saving");
  transfer_.SaveGradients([this, request, began = world_.timers.now()] {
    saves_ = false;
    kept_ = world_.timers.now() - began;
    if (state() == engine::ParticipantState::kPrepared) Raise(request);
  });
}

void NodeTransaction::Raise(const engine::RaiseRequest& request) {
  const std::string& job = prepare().job();
  const auto number = static_cast<std::uint64_t>(prepare().transaction());
  if (request.before_update) {
    world_.pauses.RaiseRequest(job, number | engine::kRequestBeforeUpdate, request.at_step + 1);
    if (request.leg > 1) world_.pauses.GoOn(job, request.at_step);
    awaited_ = request.at_step;
    LookForState();
  } else {
    world_.pauses.RaiseRequest(job, number, request.at_step);
  }
  if (const auto all = world_.pauses.AllPaused(job)) Feed(engine::RanksPaused{all->step});
}

void NodeTransaction::LookForState() {
  constexpr auto kSoon = std::chrono::milliseconds(1);
  if (!awaited_ || state() != engine::ParticipantState::kPrepared) return;
  const auto step = static_cast<std::uint64_t>(*awaited_);
  bool has_all = true, updates = false;
  for (const ptc::DeviceId id : world_.devices.Of(prepare().job())) {
    const engine::ArenaHeader& header = world_.devices.Find(id)->arena->header();
    const bool has_it = header.end.load() >= step;
    has_all &= has_it;
    updates |= !has_it && header.decision_step.load() >= step;
  }
  if (has_all) {
    awaited_.reset();
    return Feed(engine::StateReached{leg_});
  }
  if (!updates || std::exchange(looks_again_, true)) return;
  world_.timers.After(kSoon, [this, alive = std::weak_ptr(alive_)] {
    if (alive.expired()) return;
    looks_again_ = false;
    LookForState();
  });
}

// Old pieces are only read, and nothing new lies in gradients, so views and digests may go on.
void NodeTransaction::RunPrecopy(const engine::RunPrecopy& leg,
                                 const wire::StepDecision& followed) {
  world_.machine.fault_point("participant.precopying");
  if (leg.leg > 1) world_.machine.fault_point("participant.following");
  transfer_.Precopy(leg, followed, [this](bool is_whole) { Feed(engine::PrecopyEnded{is_whole}); });
}

// A registrar that has read an old row of its journal may believe that a training job is paused.
Status NodeTransaction::CheckRanksWait() const {
  const wire::Prepare& p = prepare();
  if (p.recovery() || world_.devices.Of(p.job()).empty() || world_.pauses.AllPaused(p.job())) {
    return OkStatus();
  }
  return FailedPrecondition(fmt::format("the ranks of '{}' do not wait here", p.job()));
}

void NodeTransaction::RunTransfer(std::int64_t step, const wire::StepDecision& pending, bool anew) {
  if (Status wait = CheckRanksWait(); !wait) return Feed(engine::TransferEnded{std::move(wait)});
  world_.links.views->GiveUp(prepare().job());  // the old pieces will be overwritten
  world_.digests.Forget(prepare().job());
  if (anew) transfer_.ForgetCopies();
  Status started = transfer_.Start(
      step, pending, [this](const Status& status) { Feed(engine::TransferEnded{status}); });
  if (!started) Feed(engine::TransferEnded{std::move(started)});
}

void NodeTransaction::RunRound(int round, std::int64_t step) {
  world_.machine.fault_point("participant.round");
  world_.machine.fault_point(fmt::format("participant.round.{}", round));
  world_.links.views->GiveUp(prepare().job());
  if (const Status ready = change_.AdvanceTo(world_.devices, round, step); !ready) {
    return EndRound(round, ready);
  }
  world_.machine.fault_point("participant.round.freed");
  transfer_.MoveRound([this, round](const Status& status) { EndRound(round, status); });
}

// Its tables are those that the agent before has written, so nothing is written anew.
void NodeTransaction::OfferRound(int round, std::int64_t step) {
  if (transfer_.is_offered()) return;
  if (change_.AdvanceTo(world_.devices, round, step)) transfer_.Offer();
}

// The change is decided, so a round that failed is tried again until it succeeds.
void NodeTransaction::EndRound(int round, const Status& status) {
  constexpr auto kPause = std::chrono::milliseconds(500);
  if (part_.gave_up()) return;
  if (!status) {
    const std::string problem =
        fmt::format("transaction {}: round {}: {}; it is tried again", prepare().transaction(),
                    round, status.error().ToString());
    if (std::exchange(round_problem_, problem) != problem) {
      world_.uplink.ReportNodeEvent(engine::Severity::kWarning, problem);
    }
    world_.timers.After(kPause, [this, round, alive = std::weak_ptr(alive_)] {
      if (!alive.expired()) Feed(engine::OutcomeReceived{true, round});
    });
  }
  Feed(engine::RoundEnded{round, status});
}

// What cannot be settled counts as lost: the registrar goes by the epochs of the devices.
void NodeTransaction::Settle(int rounds, std::int64_t step) {
  if (const Status settled = change_.Settle(world_.devices, rounds, step); !settled) {
    world_.uplink.ReportNodeEvent(
        engine::Severity::kError,
        fmt::format("transaction {}: {}", prepare().transaction(), settled.error().ToString()));
  }
  adoption_.ListLeft(rounds);
}

void NodeTransaction::Flip(std::int64_t step) {
  // The reported steps after the step of that state belong to the old timeline.
  if (prepare().has_hand_in() || prepare().has_snapshot() || prepare().has_checkpoint())
    world_.steps.Forget(prepare().job());
  step_ = step;
  adoption_.Flip(step);
  SendAdopt();
}

// The updates are held before any rank may begin one. A paused job may be resumed meanwhile.
void NodeTransaction::Release(bool stay_paused) {
  auto kept = transfer_.Kept(step_);
  if (kept && !world_.jobs.LocalOf(change_.to()).empty()) {
    if (auto taken = transfer_.TakenAhead(step_)) {
      world_.digests.Adopt(prepare().transaction(), *kept->change, std::move(*taken));
    } else {
      world_.digests.Take(prepare().transaction(), std::move(*kept));
    }
  }
  ranks_.Release(stay_paused);
}

void NodeTransaction::SendAdopt() {
  if (adoption_.Send()) CheckAdopted();
}

void NodeTransaction::CheckAdopted() {
  if (adoption_.Complete()) Feed(engine::RanksAttached{});
}

void NodeTransaction::CleanUp() {
  waits_for_ranks_ = false;
  transfer_.Cancel();
  transfer_.Withdraw();
  meeting_.End();
  ranks_.Abandon();
  CheckCleanedUp();
}

void NodeTransaction::CheckCleanedUp() {
  if (ranks_.HasJoiners()) return;
  transfer_.Stop();
  Feed(engine::CleanedUp{});
}

void NodeTransaction::Halt(const std::string& why) {
  const std::string text =
      fmt::format("transaction {}: {}; the agent stops", prepare().transaction(), why);
  world_.uplink.ReportNodeEvent(engine::Severity::kError, text);
  world_.machine.log_line(text);
  world_.machine.exit();
}

// ---- messages to the registrar

void NodeTransaction::SendReport(const engine::Report& report) {
  // Another node may receive its Transfer earlier than this one and fetch cells from here at once.
  // The registrar sends Transfer only after all ranks have paused.
  if (report.kind == engine::ReportKind::kPrepared) transfer_.Offer();
  wire::FromNode message;
  auto* out = message.mutable_txn();
  out->set_transaction(prepare().transaction());
  out->set_kind(KindOf(report.kind));
  out->set_reason(Utf8(report.reason));
  out->set_step(report.step);
  if (report.kind == engine::ReportKind::kPrepared) {
    out->set_can_precopy(change_.keeps_gradients());
    out->set_can_follow(change_.can_follow());
    out->set_exchange(meeting_.exchange() != nullptr);
  }
  if (report.kind == engine::ReportKind::kMoved) {
    out->set_round(report.round);
    for (const auto& [device, bytes] : change_.extra()) {
      auto* const extra = out->add_extra();
      Encode(device, extra->mutable_device());
      extra->set_bytes(bytes);
    }
  }
  if (report.kind == engine::ReportKind::kReached) {
    out->set_round(report.round);
    out->set_kept_seconds(kept_.count());
  }
  if (report.kind == engine::ReportKind::kPrecopied) {
    out->set_round(report.round);
    out->set_is_whole(report.is_whole);
  }
  if (report.kind == engine::ReportKind::kPaused) AddPending(out);
  if (report.kind == engine::ReportKind::kTransferred) {
    transfer_.SendProgress(true);
    transfer_.Describe(out);
  }
  world_.uplink.Send(std::move(message));
}

void NodeTransaction::AddPending(wire::TxnReport* report) const {
  const std::string& job = prepare().job();
  const auto all = world_.pauses.AllPaused(job);
  const std::vector<ptc::DeviceId> devices = world_.devices.Of(job);
  if (!all || !all->before_update || devices.empty()) return;
  // All ranks share one decision.
  Encode(world_.devices.Find(devices.front())->arena->header(), report->mutable_pending());
}

void NodeTransaction::Ask(bool write_abort) {
  wire::FromNode message;
  auto* ask = message.mutable_decide();
  ask->set_job(prepare().job());
  ask->set_slot(prepare().slot());
  ask->set_transaction(prepare().transaction());
  if (write_abort) ask->set_value(ToText(engine::AbortOf(prepare().transaction())));
  world_.uplink.Send(std::move(message));
  AskRegister(write_abort);
}

void NodeTransaction::AskRegister(bool write_abort) {
  engine::DecisionRegister* const decisions = world_.machine.decisions;
  if (!decisions) return;
  if (std::exchange(asks_register_, true)) return;  // the last answer is not there yet
  const auto follow =
      [this, alive = std::weak_ptr(alive_)](const Result<std::optional<engine::Decision>>& held) {
        if (alive.expired()) return;
        asks_register_ = false;
        if (held && *held) OnDecision(**held);
      };
  if (!write_abort) return decisions->Read(prepare().job(), prepare().slot(), follow);
  decisions->Write(prepare().job(), prepare().slot(), engine::AbortOf(prepare().transaction()),
                   [follow](const Result<engine::Decision>& held) {
                     if (!held) return follow(held.error());
                     follow(std::optional(*held));
                   });
}

void NodeTransaction::RepeatReport() {
  if (!repeats_.IsDue(world_.timers.now())) return;
  switch (state()) {
    case engine::ParticipantState::kPreparing:
      return Feed(engine::PrepareRequested{});
    case engine::ParticipantState::kPrepared: {
      const auto all = world_.pauses.AllPaused(prepare().job());
      const auto number = static_cast<std::uint64_t>(prepare().transaction());
      if (all && all->request == number) return Feed(engine::RanksPaused{all->step});
      return Feed(engine::PrepareRequested{});
    }
    case engine::ParticipantState::kTransferring:
    case engine::ParticipantState::kTransferred:
      return Feed(engine::TransferRequested{});
    case engine::ParticipantState::kVerified:
      return Feed(engine::VerifyRequested{});
    case engine::ParticipantState::kIdle:
    case engine::ParticipantState::kCommitted:  // TransactionPart::RepeatFollowed
    case engine::ParticipantState::kAborted:
      return;
  }
}

void NodeTransaction::Beat() {
  part_.RepeatFollowed();
  if (!part_.followed()) CheckAdopted();
  if (!part_.followed()) adoption_.FailLateRanks();
}

// ---- what happens to ranks

void NodeTransaction::OnRankAttached() { CheckAttached(); }

void NodeTransaction::OnRankConnected(const Attempt& reached, const Status& status) {
  if (reached != Attempt{prepare().epoch(), prepare().attempt()}) return;
  if (!status) return Feed(engine::RanksConnected{Status(Error(status.error()))});
  CheckConnected();
}

void NodeTransaction::OnRankPaused(const RankId& id) {
  // The rank was disconnected when the transaction was committed, so ADOPT is sent again.
  if (state() == engine::ParticipantState::kCommitted) SendAdopt();
  if (Joins(id)) return;
  if (const auto all = world_.pauses.AllPaused(id.job)) {
    world_.links.views->OnPaused(id.job, all->step);
    Feed(engine::RanksPaused{all->step});
  }
}

void NodeTransaction::OnRankEnded() {
  CheckAttached();
  if (state() == engine::ParticipantState::kAborted || part_.gave_up()) CheckCleanedUp();
  if (state() == engine::ParticipantState::kCommitted) CheckAdopted();
}

}  // namespace tessera::agents
