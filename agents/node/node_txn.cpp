// SPDX-License-Identifier: Apache-2.0
// Carries out the actions of engine::Participant.
#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <mutex>

#include "agents/node/digest_wire.h"
#include "agents/node/fault.h"
#include "agents/node/link_probe.h"
#include "agents/node/node_agent.h"
#include "agents/wire/convert.h"
#include "agents/wire/utf8.h"
#include "engine/model/job_layout.h"
#include "engine/store/allocate.h"
#include "ptc/base/overloaded.h"
#include "ptc/plan/refill.h"
#include "ptc/schedule/relay_plan.h"

namespace tessera::agents {
namespace {

using State = engine::ParticipantState;

constexpr char kPrepareKey[] = "txn/prepare";
constexpr char kStateKey[] = "txn/state";

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

struct NodeAgent::Serving {
  std::mutex mutex;
  std::shared_ptr<const MoveContext> context;
  LinkSource links;  // has its own mutex
};

void NodeAgent::SetServing(std::shared_ptr<const MoveContext> context) {
  const std::lock_guard lock(serving_->mutex);
  serving_->context = std::move(context);
}

std::function<Result<SourceCell>(const LaneKey&, std::int64_t)> NodeAgent::MakeResolver() {
  serving_ = std::make_shared<Serving>();
  return [serving = serving_, views = views_.get()](const LaneKey& key,
                                                    std::int64_t move) -> Result<SourceCell> {
    if (IsLinkProbe(key)) return serving->links.Cell();
    if (key.attempt == kViewAttempt) {
      return views->Resolve(static_cast<std::uint64_t>(key.transaction), move);
    }
    std::shared_ptr<const MoveContext> context;
    {
      const std::lock_guard lock(serving->mutex);
      context = serving->context;
    }
    if (!context || !(context->key == key)) {
      return FailedPrecondition(fmt::format(
          "transaction {} of '{}' is not in transfer on this node", key.transaction, key.job));
    }
    return ResolveSource(context, move);
  };
}

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
         txn_->to->mesh().RankOf(id.device) && !txn_->from->mesh().RankOf(id.device);
}

// ---- recovery after a restart of the agent

Status NodeAgent::RecoverTxn() {
  TESSERA_TRY(const std::optional<std::string> bytes, journal_->Get(kPrepareKey));
  TESSERA_TRY(const std::optional<std::string> state, journal_->Get(kStateKey));
  if (!bytes || !state) return OkStatus();
  wire::Prepare prepare;
  if (!prepare.ParseFromString(*bytes)) return DataLoss("journal row 'txn/prepare' is damaged");
  TESSERA_TRY(const State recovered, engine::ParseParticipantState(static_cast<std::uint32_t>(
                                         std::strtoul(state->c_str(), nullptr, 10))));
  txn_.emplace();
  txn_->prepare = prepare;
  txn_->machine = engine::Participant::Recovered(recovered);
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

// ---- requests of the registrar

void NodeAgent::OnPrepare(const wire::Prepare& message) {
  if (txn_) {
    if (txn_->prepare.transaction() == message.transaction()) return Feed(engine::PrepareRequested{});
    wire::FromNode reply;
    auto* report = reply.mutable_txn();
    report->set_transaction(message.transaction());
    report->set_kind(wire::TxnReport::REFUSED);
    report->set_reason(fmt::format("transaction {} is still {} here", txn_->prepare.transaction(),
                                   ToString(txn_->machine.state())));
    Send(std::move(reply));
    return;
  }
  txn_.emplace();
  txn_->prepare = message;
  if (const Status put = journal_->Put(kPrepareKey, message.SerializeAsString()); !put) {
    SendReport({engine::ReportKind::kRefused, put.error().ToString(), 0});
    txn_.reset();
    return;
  }
  Feed(engine::PrepareRequested{});
}

void NodeAgent::OnOutcome(const wire::Outcome& message) {
  if (!txn_ || txn_->prepare.transaction() != message.transaction()) {
    // This node has followed the outcome and forgotten the transaction, or it never prepared it,
    // which is possible only for an aborted one. In both cases the outcome holds here.
    wire::FromNode reply;
    auto* report = reply.mutable_txn();
    report->set_transaction(message.transaction());
    report->set_kind(message.commit() ? wire::TxnReport::COMMITTED : wire::TxnReport::ABORTED);
    Send(std::move(reply));
    return ReportAllPaused();  // the registrar may have restarted and forgotten the pauses
  }
  if (message.commit()) txn_->step = message.step();
  Feed(engine::OutcomeReceived{message.commit()});
}

void NodeAgent::OnGo(const wire::Go& message) {
  if (!txn_ || txn_->prepare.transaction() != message.transaction()) return;
  txn_->stay_paused = message.stay_paused();
  Feed(engine::GoReceived{});
}

void NodeAgent::OnDecided(const wire::Decided& message) {
  if (!txn_ || txn_->prepare.job() != message.job() || txn_->prepare.slot() != message.slot())
    return;
  if (message.value().rfind("commit", 0) == 0) Feed(engine::OutcomeReceived{true});
  if (message.value().rfind("abort", 0) == 0) Feed(engine::OutcomeReceived{false});
}

// ---- the machine and its actions

void NodeAgent::Feed(const engine::ParticipantEvent& event) {
  if (!txn_) return;
  const State before = txn_->machine.state();
  const std::vector<engine::ParticipantAction> actions = txn_->machine.On(event);
  if (txn_->machine.state() != before) {
    FaultPoint(config_.node, "participant." + std::string(ToString(txn_->machine.state())));
  }
  for (const engine::ParticipantAction& action : actions) {
    if (!txn_) return;
    std::visit(
        Overloaded{
            [&](const engine::CheckAndReserve&) { Feed(engine::LocalChecked{CheckAndReserve()}); },
            [&](const engine::ConnectRanks&) { ConnectRanks(); },
            [&](const engine::RaiseRequest& a) {
              RaiseRequest(txn_->prepare.job(),
                           static_cast<std::uint64_t>(txn_->prepare.transaction()), a.at_step);
              if (const auto all = AllPaused(txn_->prepare.job())) {
                Feed(engine::RanksPaused{all->step});
              }
            },
            [&](const engine::RunTransfer&) { RunTransfer(); },
            [&](const engine::JournalState& a) {
              const Status put =
                  journal_->Put(kStateKey, std::to_string(static_cast<int>(a.state)));
              if (!put)
                ReportEvent(engine::Severity::kError, fmt::format("n{}", config_.node),
                            "journal: " + put.error().ToString());
              FaultPoint(config_.node,
                         "participant." + std::string(ToString(a.state)) + ".journaled");
            },
            [&](const engine::Report& a) { SendReport(a); },
            [&](const engine::FlipAndAdopt&) { FlipAndAdopt(); },
            [&](const engine::CleanUp&) { CleanUp(); },
            [&](const engine::ReleaseRanks&) { ReleaseRanks(); },
            [&](const engine::ResumeOld&) {
              const auto job = jobs_.find(txn_->prepare.job());
              if (job == jobs_.end()) return;
              job->second.resumed_through =
                  std::max(job->second.resumed_through,
                           static_cast<std::uint64_t>(txn_->prepare.transaction()));
              for (const ptc::DeviceId id : store_->Of(job->first)) {
                store_->Find(id)->arena->header().request.store(0);
              }
              // Ranks that cannot read their data do not resume: they wait for the data.
              if (!txn_->stay_paused) Resume(job->first, false);
            },
            [&](const engine::ReadRegister& a) {
              wire::FromNode message;
              auto* ask = message.mutable_decide();
              ask->set_job(txn_->prepare.job());
              ask->set_slot(txn_->prepare.slot());
              if (a.write_abort) {
                ask->set_value(fmt::format("abort {}", txn_->prepare.transaction()));
              }
              Send(std::move(message));
            },
            [&](const engine::Forget&) { ForgetTxn(); },
        },
        action);
  }
}

void NodeAgent::RepeatFollowed() {
  if (!txn_ || !txn_->machine.followed()) return;
  Feed(engine::OutcomeReceived{txn_->machine.state() == engine::ParticipantState::kCommitted});
}

void NodeAgent::SendReport(const engine::Report& report) {
  // Another node may receive its Transfer earlier than this one and fetch cells from here at once.
  // The registrar sends Transfer only after all ranks have paused.
  if (report.kind == engine::ReportKind::kPrepared && !txn_->context) {
    txn_->context = MakeContext();
    SetServing(txn_->context);
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
  if (p.has_hand_in()) {
    txn_->plan = ptc::RefillPlan(to);
  } else {
    TESSERA_TRY(const ptc::Topology topology, TopologyOf(p));
    TESSERA_TRY(txn_->plan, ptc::MakePlan(from, to, topology));
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
  TESSERA_RETURN_IF_ERROR(BuildPlan());
  const wire::Prepare& p = txn_->prepare;
  TESSERA_TRY(const auto settings, engine::ParseJobSettings(p.settings()));
  TESSERA_RETURN_IF_ERROR(engine::CheckRunnable(settings, *txn_->to));
  const auto job = jobs_.find(p.job());
  for (const auto& [id, device] : store_->devices()) {
    const bool old_rank = txn_->from->mesh().RankOf(id).has_value();
    const bool new_rank = txn_->to->mesh().RankOf(id).has_value();
    if (!old_rank && !new_rank) continue;
    if (device.failed) return FailedPrecondition(fmt::format("device {} failed", ToString(id)));
    if (old_rank &&
        (job == jobs_.end() || !device.table || device.table->job() != p.job() ||
         device.table->epoch() != p.epoch() - 1 || device.table->layout_hash() != p.from_hash())) {
      return FailedPrecondition(fmt::format("stale plan: device {} does not hold epoch {} of '{}'",
                                            ToString(id), p.epoch() - 1, p.job()));
    }
    if (!old_rank && device.table) {
      return FailedPrecondition(
          fmt::format("device {} is in job '{}'", ToString(id), device.table->job()));
    }
    TESSERA_TRY(const engine::PieceTable nothing,
                engine::PieceTable::Make(p.epoch() - 1, p.from_hash(), p.job(), {},
                                         device.arena->capacity()));
    const engine::PieceTable& old_table = device.table ? *device.table : nothing;
    TESSERA_TRY(engine::PieceTable next,
                engine::AllocateNext(old_table, *txn_->from, *txn_->to, id, txn_->plan,
                                     device.arena->capacity()));
    TESSERA_RETURN_IF_ERROR(next.Write(*device.arena, engine::PieceTable::SlotOf(p.epoch())));
    txn_->old.emplace(id, old_table);
    txn_->next.emplace(id, std::move(next));
  }
  return WriteJobFiles(p.job(), p.settings(), *txn_->to);
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
      status = rank_port_->SendConnect(
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
  const std::pair key{txn_->prepare.epoch(), txn_->prepare.attempt()};
  for (const ptc::DeviceId device : LocalOf(*txn_->to)) {
    const Rank* rank = FindRank({txn_->prepare.job(), device});
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
  for (const auto& [id, table] : txn_->next) {
    const engine::Arena* arena = store_->devices().at(id).arena.get();
    context->local.emplace(id, MoveContext::Local{arena, txn_->old.at(id), table});
  }
  for (const wire::Peer& peer : p.peers()) {
    context->nodes[peer.node()] = {{peer.lanes().begin(), peer.lanes().end()},
                                   peer.public_key(),
                                   {peer.arena_paths().begin(), peer.arena_paths().end()}};
  }
  if (p.has_hand_in()) {
    const wire::HandInSource& source = p.hand_in();
    context->hand_in = {static_cast<std::int64_t>(source.hand_in()),
                        {source.lanes().begin(), source.lanes().end()},
                        source.public_key()};
  }
  return context;
}

void NodeAgent::RunTransfer() {
  views_->GiveUp(txn_->prepare.job());  // the old pieces will be overwritten
  if (!txn_->context) {  // an earlier agent of this node prepared it; its context is lost
    Feed(engine::TransferEnded{
        FailedPrecondition(fmt::format("n{} was restarted after it had prepared", config_.node))});
    return;
  }
  // The new pieces may lie in the space of the gradients, so these are no longer valid.
  for (const auto& [id, table] : txn_->next) {
    store_->Find(id)->arena->header().grads_step.store(0);
  }
  const std::int64_t number = txn_->prepare.transaction();
  txn_->mover = std::make_unique<Mover>(
      txn_->context, Mover::Wire{&net_, keys_, ingress_}, [this, number](MoveResult result) {
        loop_.Post([this, number, result = std::move(result)]() mutable {
          if (!txn_ || txn_->prepare.transaction() != number) return;
          txn_->result = std::move(result);
          Feed(engine::TransferEnded{txn_->result.status});
        });
      });
}

void NodeAgent::SendProgress() {
  if (!txn_ || !txn_->mover) return;
  wire::FromNode message;
  auto* progress = message.mutable_progress();
  progress->set_transaction(txn_->prepare.transaction());
  for (const auto& flow : txn_->mover->flows()) {
    auto* row = progress->add_flows();
    Encode(flow->source, row->mutable_source());
    Encode(flow->destination, row->mutable_destination());
    row->set_bytes_total(flow->total);
    row->set_bytes_done(flow->done.load());
  }
  progress->set_storage_done(txn_->mover->storage_done());
  Send(std::move(message));
}

// Idempotent: skips devices that have flipped and ranks that have adopted.
void NodeAgent::FlipAndAdopt() {
  const wire::Prepare& p = txn_->prepare;
  for (const auto& [id, table] : txn_->next) {
    DeviceStore::Device& device = *store_->Find(id);
    if (device.table && device.table->job() == p.job() && device.table->epoch() == p.epoch())
      continue;
    store_->Flip(device, table, p.timeline(), txn_->step);
  }
  // The reported steps after the handed-in step belong to the old timeline.
  if (p.has_hand_in()) recent_steps_.erase(p.job());
  const bool stays = !LocalOf(*txn_->to).empty();
  if (stays) {
    const auto old = jobs_.find(p.job());
    Job job{p.job(),
            {p.settings(), *txn_->to, p.epoch(), p.timeline()},
            old == jobs_.end() ? 0 : old->second.resumed_through,
            false};
    JournalJob(job);
    jobs_.insert_or_assign(p.job(), std::move(job));
  }
  for (const ptc::DeviceId device : LocalOf(*txn_->to)) {
    Rank* rank = FindRank({p.job(), device});
    if (!rank || rank->current_epoch >= p.epoch()) continue;
    const RankView view = ViewOf(*txn_->to, *txn_->to->mesh().RankOf(device), p.epoch(),
                                 p.attempt(), p.micro_batch(), p.peers());
    static_cast<void>(rank_port_->SendCommand(rank->id, RankCommand::kAdopt, p.epoch(), &view));
  }
  CheckAdopted();
}

void NodeAgent::CheckAdopted() {
  for (const ptc::DeviceId device : LocalOf(*txn_->to)) {
    // A dead rank is not waited for. The commit stands, and the job fails after it.
    const Rank* rank = FindRank({txn_->prepare.job(), device});
    if (rank && rank->current_epoch < txn_->prepare.epoch()) return;
  }
  Feed(engine::RanksAttached{});
}

void NodeAgent::CleanUp() {
  const wire::Prepare& p = txn_->prepare;
  if (txn_->mover) txn_->mover->Cancel();
  SetServing(nullptr);
  rank_port_->Abandon(p.job(), p.epoch(), p.attempt());
  for (auto& [id, rank] : ranks_) {
    if (IsJoiner(id)) KillRank(rank);
  }
  CheckCleanedUp();
}

void NodeAgent::CheckCleanedUp() {
  for (const auto& [id, rank] : ranks_) {
    if (IsJoiner(id)) return;
  }
  txn_->mover.reset();  // waits until the mover has ended and no longer writes
  Feed(engine::CleanedUp{});
}

void NodeAgent::ReleaseRanks() {
  const wire::Prepare& p = txn_->prepare;
  for (auto& [id, rank] : ranks_) {
    if (id.job != p.job()) continue;
    if (txn_->to->mesh().RankOf(id.device)) {
      if (rank.adopted) static_cast<void>(rank_port_->SendGo(id, p.epoch(), txn_->stay_paused));
      rank.adopted = false;
      continue;
    }
    rank.exit_expected = true;
    static_cast<void>(rank_port_->SendCommand(id, RankCommand::kLeave, p.epoch(), nullptr));
    const std::int64_t pid = rank.pid;
    loop_.After(std::chrono::seconds(5), [this, id = id, pid] {
      Rank* late = FindRank(id);
      if (late && late->pid == pid) KillRank(*late);
    });
  }
  if (LocalOf(*txn_->to).empty()) {
    jobs_.erase(p.job());
    static_cast<void>(journal_->Erase("job/" + p.job()));
  }
}

void NodeAgent::ForgetTxn() {
  SetServing(nullptr);
  // The state first: RecoverTxn ignores one row without the other.
  static_cast<void>(journal_->Erase(kStateKey));
  static_cast<void>(journal_->Erase(kPrepareKey));
  const bool stay_paused = txn_->stay_paused;
  rendezvous_.Forget(txn_->prepare.job());
  txn_.reset();
  SendHeartbeat();
  // Pauses during the transaction were not reported. A job that was paused before it is known to
  // the registrar, which may already be resuming it.
  if (!stay_paused) ReportAllPaused();
}

}  // namespace tessera::agents
