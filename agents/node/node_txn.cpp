// SPDX-License-Identifier: Apache-2.0
// Carries out the actions of engine::Participant.
#include <fmt/format.h>

#include <algorithm>

#include "agents/move/digest_wire.h"
#include "agents/node/node_agent.h"
#include "agents/wire/convert.h"
#include "agents/wire/utf8.h"
#include "engine/model/job_layout.h"
#include "engine/store/allocate.h"
#include "ptc/plan/refill.h"
#include "ptc/schedule/relay_plan.h"

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
  }
  return wire::TxnReport::REFUSED;
}

}  // namespace

std::vector<ptc::DeviceId> NodeAgent::LocalOf(const ptc::Layout& layout) const {
  std::vector<ptc::DeviceId> out;
  for (const ptc::DeviceId device : layout.mesh().devices()) {
    if (device.node == config_.node) out.push_back(device);
  }
  std::sort(out.begin(), out.end());
  return out;
}

bool NodeAgent::IsJoiner(const RankId& id) const {
  return txn_ && txn_->from && txn_->to && txn_->prepare.job() == id.job &&
         txn_->to->mesh().RankOf(id.device) &&
         (txn_->prepare.recovery() || !txn_->from->mesh().RankOf(id.device));
}

bool NodeAgent::IsSource(ptc::DeviceId id) const {
  return txn_->from->mesh().RankOf(id) &&
         std::find(txn_->lost.begin(), txn_->lost.end(), id) == txn_->lost.end();
}

// ---- recovery after a restart of the agent

Status NodeAgent::RecoverTxn() {
  TESSERA_TRY(const auto kept, TransactionPart::Load(journal_));
  if (!kept) return OkStatus();
  wire::Prepare prepare;
  if (!prepare.ParseFromString(kept->prepare)) {
    return DataLoss("journal row 'txn/prepare' is damaged");
  }
  BeginTxn(prepare);
  txn_->part =
      std::make_unique<TransactionPart>(TermsOf(prepare), kept->state, journal_, WorldOfTxn());
  TESSERA_RETURN_IF_ERROR(BuildPlan());
  for (const auto& [id, device] : store_->devices()) {
    const auto next =
        engine::PieceTable::Read(*device.arena, engine::PieceTable::SlotOf(prepare.epoch()));
    if (next && next->epoch() == prepare.epoch() && next->job() == prepare.job() &&
        next->layout_hash() == prepare.to_hash()) {
      txn_->next.emplace(id, *next);
    }
  }
  return OkStatus();
}

void NodeAgent::BeginTxn(const wire::Prepare& prepare) {
  txn_.emplace();
  txn_->prepare = prepare;
  NoteWord();
}

// ---- requests of the registrar

TransactionPart::Terms NodeAgent::TermsOf(const wire::Prepare& p) {
  return {p.transaction(), p.job(), p.slot(), ptc::Hex16(p.to_hash()), p.SerializeAsString()};
}

void NodeAgent::NoteWord() {
  txn_->last_word = timers_.now();
  txn_->repeats = Repetition(txn_->last_word);
}

bool NodeAgent::HearAbout(std::int64_t transaction) {
  if (!txn_ || txn_->prepare.transaction() != transaction) return false;
  NoteWord();
  return true;
}

void NodeAgent::RepeatReport() {
  switch (txn_->part->state()) {
    case engine::ParticipantState::kPreparing:
      return Feed(engine::PrepareRequested{});
    case engine::ParticipantState::kPrepared: {
      const auto all = AllPaused(txn_->prepare.job());
      const auto number = static_cast<std::uint64_t>(txn_->prepare.transaction());
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

void NodeAgent::OnPrepare(const wire::Prepare& message) {
  if (HearAbout(message.transaction())) return Feed(engine::PrepareRequested{});
  if (txn_) {
    // The registrar begins a transaction only after the one before is decided.
    const bool is_repeated = waiting_ && waiting_->prepare.transaction() == message.transaction();
    if (!is_repeated) waiting_ = {message, timers_.now()};
    return Feed(engine::NoWord{});
  }
  BeginTxn(message);
  txn_->part = std::make_unique<TransactionPart>(TermsOf(message), journal_, WorldOfTxn());
  Feed(engine::PrepareRequested{});
}

void NodeAgent::RefuseWaiting() {
  const std::int64_t refused = waiting_->prepare.transaction();
  waiting_.reset();
  ReportOf(refused, wire::TxnReport::REFUSED,
           fmt::format("transaction {} is still {} here", txn_->prepare.transaction(),
                       ToString(txn_->part->state())));
}

void NodeAgent::ReportOf(std::int64_t transaction, wire::TxnReport::Kind kind,
                         const std::string& reason) {
  wire::FromNode message;
  message.mutable_txn()->set_transaction(transaction);
  message.mutable_txn()->set_kind(kind);
  message.mutable_txn()->set_reason(reason);
  Send(std::move(message));
}

void NodeAgent::OnOutcome(const wire::Outcome& message) {
  if (waiting_ && waiting_->prepare.transaction() == message.transaction()) waiting_.reset();
  const auto decision = engine::ParseDecision(message.value());
  if (!decision) {
    return ReportEvent(
        engine::Severity::kError, fmt::format("n{}", config_.node),
        fmt::format("transaction {}: {}", message.transaction(), decision.error().ToString()));
  }
  if (HearAbout(message.transaction())) return txn_->part->OnDecision(*decision);
  // This node has followed the outcome and forgotten the transaction, or it never prepared it,
  // which is possible only for an aborted one. In both cases the outcome holds here.
  ReportOf(message.transaction(),
           decision->commit ? wire::TxnReport::COMMITTED : wire::TxnReport::ABORTED);
  ReportAllPaused();  // the registrar may have restarted and forgotten the pauses
}

void NodeAgent::OnGo(const wire::Go& message) {
  if (HearAbout(message.transaction())) txn_->part->OnGo(message.stay_paused());
}

void NodeAgent::OnDecided(const wire::Decided& message) {
  if (!txn_ || txn_->prepare.job() != message.job() || txn_->prepare.slot() != message.slot())
    return;
  NoteWord();
  if (message.value().empty()) return;  // not decided yet
  const auto decision = engine::ParseDecision(message.value());
  if (decision) return txn_->part->OnDecision(*decision);
  ReportEvent(engine::Severity::kError, fmt::format("n{}", config_.node),
              decision.error().ToString());
}

void NodeAgent::AskAfterSilence() {
  constexpr auto kNoWord = std::chrono::seconds(5);
  constexpr auto kSilence = std::chrono::seconds(15);
  if (!txn_) return;
  const auto now = timers_.now();
  if (waiting_ && now - waiting_->since > kSilence) RefuseWaiting();
  if (now - last_message_ > kSilence) return Feed(engine::RegistrarSilent{});
  if (now - txn_->last_word > kNoWord) Feed(engine::NoWord{});
}

// ---- the machine and its actions

TransactionPart::World NodeAgent::WorldOfTxn() {
  TransactionPart::World world;
  world.check = [this] { return CheckAndReserve(); };
  world.connect = [this] { ConnectRanks(); };
  world.raise_request = [this](std::int64_t at_step) {
    const wire::Prepare& p = txn_->prepare;
    RaiseRequest(p.job(), static_cast<std::uint64_t>(p.transaction()), at_step);
    if (const auto all = AllPaused(p.job())) Feed(engine::RanksPaused{all->step});
  };
  world.transfer = [this](std::int64_t step) { RunTransfer(step); };
  world.report = [this](const engine::Report& report) { SendReport(report); };
  world.flip = [this](std::int64_t step) { FlipAndAdopt(step); };
  world.clean_up = [this] { CleanUp(); };
  world.release = [this](bool stay_paused) { ReleaseRanks(stay_paused); };
  world.resume_old = [this](bool stay_paused) { ResumeOld(stay_paused); };
  world.ask = [this](bool write_abort) { Ask(write_abort); };
  world.forgotten = [this](bool stay_paused) { OnForgotten(stay_paused); };
  world.halt = [this](const std::string& why) { Halt(why); };
  world.note_error = [this](const std::string& text) {
    ReportEvent(engine::Severity::kError, fmt::format("n{}", config_.node), text);
  };
  world.fault_point = world_.fault_point;
  return world;
}

void NodeAgent::Feed(engine::ParticipantEvent event) {
  if (txn_) txn_->part->Feed(std::move(event));
}

void NodeAgent::ResumeOld(bool stay_paused) {
  const auto job = jobs_.find(txn_->prepare.job());
  if (job == jobs_.end()) return;
  job->second.resumed_through = std::max(job->second.resumed_through,
                                         static_cast<std::uint64_t>(txn_->prepare.transaction()));
  for (const ptc::DeviceId id : store_->Of(job->first)) {
    store_->Find(id)->arena->header().request.store(0);
  }
  // Ranks that cannot read their data do not resume: they wait for the data.
  if (!stay_paused) Resume(job->first, false);
}

void NodeAgent::Ask(bool write_abort) {
  wire::FromNode message;
  auto* ask = message.mutable_decide();
  ask->set_job(txn_->prepare.job());
  ask->set_slot(txn_->prepare.slot());
  ask->set_transaction(txn_->prepare.transaction());
  if (write_abort) ask->set_value(fmt::format("abort {}", txn_->prepare.transaction()));
  Send(std::move(message));
}

void NodeAgent::Halt(const std::string& why) {
  const std::string text =
      fmt::format("transaction {}: {}; the agent stops", txn_->prepare.transaction(), why);
  ReportEvent(engine::Severity::kError, fmt::format("n{}", config_.node), text);
  world_.log_line(text);
  world_.exit();
}

void NodeAgent::SendReport(const engine::Report& report) {
  // Another node may receive its Transfer earlier than this one and fetch cells from here at once.
  // The registrar sends Transfer only after all ranks have paused.
  if (report.kind == engine::ReportKind::kPrepared && !txn_->context) {
    txn_->context = MakeContext();
    world_.serve(txn_->context);
  }
  wire::FromNode message;
  auto* out = message.mutable_txn();
  out->set_transaction(txn_->prepare.transaction());
  out->set_kind(KindOf(report.kind));
  out->set_reason(Utf8(report.reason));
  out->set_step(report.step);
  if (report.kind == engine::ReportKind::kTransferred) {
    SendProgress();
    EncodeDigests(txn_->result.before, out->mutable_before());
    EncodeDigests(txn_->result.after, out->mutable_after());
    out->set_checksums_equal(txn_->result.checksums_equal);
  }
  Send(std::move(message));
}

// Computes layouts and plan from the message and compares their hashes with those of the registrar.
Status NodeAgent::BuildPlan() {
  const wire::Prepare& p = txn_->prepare;
  TESSERA_TRY(ptc::Layout from, ptc::ParseLayout(p.from_layout()));
  TESSERA_TRY(ptc::Layout to, ptc::ParseLayout(p.to_layout()));
  TESSERA_TRY(txn_->lost, DecodeAll<ptc::DeviceId>(p.lost()));
  if (p.has_hand_in()) {
    txn_->plan = ptc::RefillPlan(to);
  } else {
    TESSERA_TRY(const ptc::Topology topology, TopologyOf(p));
    TESSERA_TRY(txn_->plan, ptc::MakePlan(from, to, topology, {.lost = txn_->lost}));
    if (p.relay()) txn_->plan = ptc::RelayPlan(txn_->plan, from, to, topology);
  }
  txn_->from = std::move(from);
  txn_->to = std::move(to);
  const auto check = [](const char* what, std::uint64_t mine, std::uint64_t theirs) -> Status {
    if (mine == theirs) return OkStatus();
    return FailedPrecondition(fmt::format("stale plan: {} is {} here, {} at the registrar", what,
                                          ptc::Hex16(mine), ptc::Hex16(theirs)));
  };
  TESSERA_RETURN_IF_ERROR(check("the old layout", txn_->from->hash(), p.from_hash()));
  TESSERA_RETURN_IF_ERROR(check("the new layout", txn_->to->hash(), p.to_hash()));
  return check("the plan", txn_->plan.hash, p.plan_hash());
}

Status NodeAgent::CheckAndReserve() {
  // A disk that becomes full during the transaction must not keep it from ending.
  TESSERA_RETURN_IF_ERROR(journal_.Reserve());
  TESSERA_RETURN_IF_ERROR(BuildPlan());
  const wire::Prepare& p = txn_->prepare;
  TESSERA_TRY(const auto settings, engine::ParseJobSettings(p.settings()));
  TESSERA_RETURN_IF_ERROR(engine::CheckRunnable(settings, *txn_->to));
  const auto job = jobs_.find(p.job());
  for (auto& [id, device] : store_->devices()) {
    const bool is_source = IsSource(id);
    const bool new_rank = txn_->to->mesh().RankOf(id).has_value();
    // Nobody can use what a lost device holds, or what is left of an earlier epoch, and its space
    // is needed.
    const bool is_lost = txn_->from->mesh().RankOf(id) && !is_source;
    const bool is_its = device.table && device.table->job() == p.job();
    if (is_its && (is_lost || device.table->epoch() < p.epoch() - 1)) store_->Free(device);
    if (!is_source && !new_rank) continue;
    if (device.failed) return FailedPrecondition(fmt::format("device {} failed", ToString(id)));
    if (is_source &&
        (job == jobs_.end() || !device.table || device.table->job() != p.job() ||
         device.table->epoch() != p.epoch() - 1 || device.table->layout_hash() != p.from_hash())) {
      return FailedPrecondition(fmt::format("stale plan: device {} does not hold epoch {} of '{}'",
                                            ToString(id), p.epoch() - 1, p.job()));
    }
    if (!is_source && device.table) {
      return FailedPrecondition(
          fmt::format("device {} is in job '{}'", ToString(id), device.table->job()));
    }
    TESSERA_TRY(const engine::PieceTable nothing,
                engine::PieceTable::Make(p.epoch() - 1, p.from_hash(), p.job(), {},
                                         device.arena->capacity()));
    const engine::PieceTable& old_table = is_source ? *device.table : nothing;
    TESSERA_TRY(engine::PieceTable next,
                engine::AllocateNext(old_table, *txn_->from, *txn_->to, id, txn_->plan,
                                     device.arena->capacity()));
    TESSERA_RETURN_IF_ERROR(next.Write(*device.arena, engine::PieceTable::SlotOf(p.epoch())));
    txn_->old.emplace(id, old_table);
    txn_->next.emplace(id, std::move(next));
  }
  return world_.write_job_files(p.job(), p.settings(), *txn_->to);
}

void NodeAgent::ConnectRanks() {
  const wire::Prepare& p = txn_->prepare;
  for (const ptc::DeviceId device : LocalOf(*txn_->to)) {
    const RankId id{p.job(), device};
    const int rank = *txn_->to->mesh().RankOf(device);
    Status status = OkStatus();
    if (IsJoiner(id)) {
      status = SpawnRank({p.job(), p.settings(), *txn_->to, p.epoch(), p.attempt(), p.micro_batch(),
                          false, p.peers()},
                         rank);
    } else {
      status = links_->SendConnect(
          id, ViewOf(*txn_->to, rank, p.epoch(), p.attempt(), p.micro_batch(), p.peers()));
    }
    if (!status) {
      Feed(engine::RanksConnected{std::move(status)});
      return;
    }
  }
  CheckConnected();
}

void NodeAgent::CheckConnected() {
  const Attempt key{txn_->prepare.epoch(), txn_->prepare.attempt()};
  for (const ptc::DeviceId device : LocalOf(*txn_->to)) {
    const Rank* rank = ranks_.Find({txn_->prepare.job(), device});
    if (!rank || !rank->connected.contains(key)) return;
  }
  Feed(engine::RanksConnected{OkStatus()});
}

std::shared_ptr<const MoveContext> NodeAgent::MakeContext() const {
  const wire::Prepare& p = txn_->prepare;
  auto context = std::make_shared<MoveContext>(MoveContext{{p.job(), p.transaction(), p.attempt()},
                                                           *txn_->from,
                                                           *txn_->to,
                                                           txn_->plan,
                                                           TopologyOf(p.peers()),
                                                           config_.node,
                                                           {},
                                                           {}});
  context->lost = txn_->lost;
  for (const auto& [id, table] : txn_->next) {
    const engine::Arena* arena = store_->devices().at(id).arena.get();
    context->local.emplace(id, MoveContext::Local{arena, txn_->old.at(id), table});
  }
  for (const wire::Peer& peer : p.peers()) {
    context->nodes[peer.node()] = {{peer.lanes().begin(), peer.lanes().end()},
                                   peer.public_key(),
                                   {peer.arena_paths().begin(), peer.arena_paths().end()}};
  }
  if (p.has_snapshot()) context->snapshot = {p.snapshot(), world_.facts.machine};
  if (p.has_hand_in()) {
    const wire::HandInSource& source = p.hand_in();
    context->hand_in = {static_cast<std::int64_t>(source.hand_in()),
                        {source.lanes().begin(), source.lanes().end()},
                        source.public_key()};
  }
  return context;
}

Status NodeAgent::CheckStep(std::int64_t step) const {
  for (const auto& [id, table] : txn_->old) {
    if (!IsSource(id)) continue;
    const engine::ArenaHeader& header = store_->devices().at(id).arena->header();
    const std::uint64_t begin = header.begin.load(), end = header.end.load();
    if (begin == end && end == static_cast<std::uint64_t>(step)) continue;
    return Internal(fmt::format("device {} is at update {} of {}, not after step {}", ToString(id),
                                begin, end, step));
  }
  return OkStatus();
}

void NodeAgent::RunTransfer(std::int64_t step) {
  views_->GiveUp(txn_->prepare.job());  // the old pieces will be overwritten
  if (!txn_->context) {  // an earlier agent of this node prepared it; its context is lost
    Feed(engine::TransferEnded{
        FailedPrecondition(fmt::format("n{} was restarted after it had prepared", config_.node))});
    return;
  }
  if (!txn_->prepare.has_hand_in()) {
    if (Status at_step = CheckStep(step); !at_step) {
      return Feed(engine::TransferEnded{std::move(at_step)});
    }
  }
  // The new pieces may lie in the space of the gradients, so these are no longer valid.
  for (const auto& [id, table] : txn_->next) {
    store_->Find(id)->arena->header().grads_step.store(0);
  }
  const std::int64_t number = txn_->prepare.transaction();
  txn_->move = world_.start_move(txn_->context, [this, number](MoveResult result) {
    if (!txn_ || txn_->prepare.transaction() != number) return;
    txn_->result = std::move(result);
    Feed(engine::TransferEnded{txn_->result.status});
  });
}

void NodeAgent::SendProgress() {
  if (!txn_ || !txn_->move) return;
  wire::FromNode message;
  auto* progress = message.mutable_progress();
  progress->set_transaction(txn_->prepare.transaction());
  for (const auto& flow : txn_->move->flows()) {
    auto* row = progress->add_flows();
    Encode(flow->source, row->mutable_source());
    Encode(flow->destination, row->mutable_destination());
    row->set_bytes_total(flow->total);
    row->set_bytes_done(flow->done.load());
  }
  progress->set_storage_done(txn_->move->storage_done());
  Send(std::move(message));
}

// Idempotent: skips devices that have flipped, also to a later epoch.
void NodeAgent::FlipAndAdopt(std::int64_t step) {
  const wire::Prepare& p = txn_->prepare;
  for (const auto& [id, table] : txn_->next) {
    DeviceStore::Device& device = *store_->Find(id);
    if (device.table && device.table->job() == p.job() && device.table->epoch() >= p.epoch())
      continue;
    store_->Flip(device, table, p.timeline(), step);
  }
  if (!txn_->flipped) txn_->flipped = timers_.now();
  // The reported steps after the step of that state belong to the old timeline.
  if (p.has_hand_in() || p.has_snapshot()) recent_steps_.erase(p.job());
  const bool stays = !LocalOf(*txn_->to).empty();
  if (stays) {
    const auto old = jobs_.find(p.job());
    Job job{p.job(),
            {p.settings(), *txn_->to, p.epoch(), p.timeline()},
            old == jobs_.end() ? 0 : old->second.resumed_through,
            false};
    txn_->is_job_journaled = JournalJob(job).has_value();
    jobs_.insert_or_assign(p.job(), std::move(job));
  }
  SendAdopt();
}

// Skips ranks that have adopted.
void NodeAgent::SendAdopt() {
  const wire::Prepare& p = txn_->prepare;
  for (const ptc::DeviceId device : LocalOf(*txn_->to)) {
    const auto& table = store_->devices().at(device).table;
    if (!table || table->job() != p.job() || table->epoch() < p.epoch()) return;  // flips later
  }
  for (const ptc::DeviceId device : LocalOf(*txn_->to)) {
    Rank* rank = ranks_.Find({p.job(), device});
    if (!rank || rank->current_epoch >= p.epoch()) continue;
    const RankView view = ViewOf(*txn_->to, *txn_->to->mesh().RankOf(device), p.epoch(),
                                 p.attempt(), p.micro_batch(), p.peers());
    static_cast<void>(links_->SendCommand(rank->id, RankCommand::kAdopt, p.epoch(), &view));
  }
  CheckAdopted();
}

// The commit stands, and all ranks of the job wait for this one. Without it the job starts again on
// the new layout.
void NodeAgent::FailRanksThatHang() {
  constexpr std::chrono::seconds kToAdopt{30};
  if (!txn_ || !txn_->flipped || txn_->part->followed()) return;
  const wire::Prepare& p = txn_->prepare;
  const auto settings = engine::ParseJobSettings(p.settings());
  const bool is_given = settings && settings->collective_timeout > 0;
  const auto patience = is_given ? std::chrono::seconds(settings->collective_timeout) : kToAdopt;
  if (timers_.now() - *txn_->flipped < patience) return;
  for (const ptc::DeviceId device : LocalOf(*txn_->to)) {
    const Rank* rank = ranks_.Find({p.job(), device});
    if (!rank || rank->current_epoch >= p.epoch()) continue;
    ReportEvent(engine::Severity::kWarning, p.job(),
                fmt::format("the rank on {} has not adopted epoch {} within {} s: it is killed",
                            ToString(device), p.epoch(), patience.count()));
    ranks_.Fail(*rank);
  }
}

void NodeAgent::CheckAdopted() {
  // A restarted agent has not followed the outcome before it has flipped, and noted so, itself.
  if (!txn_->flipped) return;
  for (const ptc::DeviceId device : LocalOf(*txn_->to)) {
    // A dead rank is not waited for. The commit stands, and the job fails after it.
    const Rank* rank = ranks_.Find({txn_->prepare.job(), device});
    if (rank && rank->current_epoch < txn_->prepare.epoch()) return;
  }
  // Until then the transaction must not be forgotten: the next agent flips again.
  const auto job = jobs_.find(txn_->prepare.job());
  const bool stays = job != jobs_.end() && !LocalOf(*txn_->to).empty();
  if (stays && !txn_->is_job_journaled) {
    txn_->is_job_journaled = JournalJob(job->second).has_value();
    if (!txn_->is_job_journaled) return;  // tried again at each beat
  }
  Feed(engine::RanksAttached{});
}

void NodeAgent::CleanUp() {
  const wire::Prepare& p = txn_->prepare;
  if (txn_->move) txn_->move->Cancel();
  world_.serve(nullptr);
  links_->Abandon(p.job(), p.epoch(), p.attempt());
  for (auto& [id, rank] : ranks_.ranks()) {
    if (IsJoiner(id)) ranks_.Kill(rank);
  }
  CheckCleanedUp();
}

void NodeAgent::CheckCleanedUp() {
  for (const auto& [id, rank] : ranks_.ranks()) {
    if (IsJoiner(id)) return;
  }
  txn_->move.reset();  // afterwards it no longer writes
  Feed(engine::CleanedUp{});
}

void NodeAgent::ReleaseRanks(bool stay_paused) {
  const wire::Prepare& p = txn_->prepare;
  for (auto& [id, rank] : ranks_.ranks()) {
    if (id.job != p.job()) continue;
    if (txn_->to->mesh().RankOf(id.device)) {
      if (rank.adopted) static_cast<void>(links_->SendGo(id, p.epoch(), stay_paused));
      rank.adopted = false;
      continue;
    }
    ranks_.Retire(rank);
  }
  if (LocalOf(*txn_->to).empty()) {
    jobs_.erase(p.job());
    static_cast<void>(journal_.Erase("job/" + p.job()));
  }
}

void NodeAgent::OnForgotten(bool stay_paused) {
  world_.serve(nullptr);
  rendezvous_.Forget(txn_->prepare.job(), txn_->prepare.attempt());
  txn_.reset();
  SendHeartbeat();
  if (const auto next = std::exchange(waiting_, std::nullopt)) {
    timers_.Post([this, prepare = next->prepare] { OnPrepare(prepare); });
  }
  // Pauses during the transaction were not reported. A job that was paused before it is known to
  // the registrar, which may already be resuming it.
  if (!stay_paused) ReportAllPaused();
}

}  // namespace tessera::agents
