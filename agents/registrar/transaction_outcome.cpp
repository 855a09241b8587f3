// SPDX-License-Identifier: Apache-2.0
// The end of a transaction, and its row in the journal, from which a restarted registrar finds it.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "agents/registrar/transaction_desk.h"
#include "agents/registrar/txn_row.h"
#include "engine/search/rounds.h"

namespace tessera::agents {
namespace {

constexpr auto kReadAgain = std::chrono::seconds(1);

/// Where the state of a committed transaction comes from, if it is not the state of before.
std::string OriginText(const Txn& txn, bool begins) {
  if (const StoredState* const stored = txn.checkpoint(); stored && (begins || txn.hand_in)) {
    return fmt::format("{} of checkpoint '{}'{} loaded",
                       stored->parameters_only ? "the parameters" : "the state", stored->path,
                       stored->parameters_only ? " were" : " was");
  }
  if (txn.hand_in) return fmt::format("state of step {} was handed in", txn.hand_in->step);
  if (!txn.recovery) return {};
  return CostOf(*txn.recovery);
}

}  // namespace

void TransactionDesk::Adopt(const engine::Decision& decision) {
  world_.fault_point("registrar.decided");
  Job* job = jobs_.Find(txn_->job);
  job->slot = txn_->slot + 1;
  // The new ranks make the update of the pending step, and continue after it.
  // After a restart of the registrar only the record knows the pending step.
  const std::int64_t continued = std::max({decision.step, txn_->pending.step(), txn_->entry.step});
  txn_->entry.step = decision.commit ? continued : job->step;
  if (decision.commit) {
    // A registrar that has restarted may have adopted the layout before.
    if (job->epoch != txn_->epoch) NoteEarlierMesh(*job, continued);
    job->layout = txn_->planned.to;
    job->remains = txn_->before;  // until the rounds have ended
    job->options = txn_->planned.summary.to_options;
    job->epoch = txn_->epoch;
    if (txn_->timeline != job->timeline) {
      uses_.steps.RestartCountAt(*job, decision.step);
      around_.timeline_begins(job->name, txn_->timeline, decision.step);
      // Why a paused job has stopped is of the timeline before: that its steps are made, or its
      // data. That of a suspended one is needed until the end.
      if (!txn_->recovery) job->reason.clear();
      job->finished = false;
    }
    job->timeline = txn_->timeline;
    job->step = continued;
    job->paused_nodes.clear();
    job->usual_step_seconds = UsualStepSeconds(*job);
    job->step_seconds.clear();
  }
  // A paused job rests as long as a user wants, and one that begins has no step before.
  job->gap.reset();
  const bool begins = txn_->recovery && txn_->recovery->begins;
  if (job->newest_step && !txn_->was_paused && !begins) {
    job->gap = Job::Gap{txn_->id, *job->newest_step, {}, {}};
  }
  // If this fails, the row of the transaction stays, from which a restarted registrar adopts again.
  static_cast<void>(jobs_.Journal(*job));
}

// A job that has left a mesh while it was suspended does not go back there: its ranks failed on it.
void TransactionDesk::NoteEarlierMesh(Job& job, std::int64_t step) const {
  const bool moves = job.layout.hash() != txn_->planned.to.hash() ||
                     job.options != txn_->planned.summary.to_options;
  job.earlier.reset();
  job.has_tried_return = false;
  if (moves && !txn_->recovery) job.earlier = EarlierMesh{job.layout.mesh(), job.options, step};
}

void TransactionDesk::Finish(bool committed, const std::string& reason) {
  const auto now = timers_.now();
  Job* job = jobs_.Find(txn_->job);
  const bool begins = txn_->recovery && txn_->recovery->begins;
  NoteResumed();
  const std::string digests = committed ? NoteDigests() : std::string();
  engine::HistoryEntry& entry = txn_->entry;
  const bool gave_up = txn_->run->machine().gave_up();
  if (gave_up) NoteRemains(*job);
  if (committed && !gave_up) job->remains.reset();
  // Those of a file or of a snapshot, which the job has not become.
  const bool is_foreign =
      txn_->checkpoint() || txn_->hand_in || (txn_->recovery && txn_->recovery->steps_lost);
  if (!committed && is_foreign) {
    entry.digest_before.clear();
    entry.digest_after.clear();
  }
  entry.result = gave_up ? "failed" : committed ? "committed" : "rolled_back";
  entry.reason = reason;
  if (committed && !gave_up) {
    if (std::string origin = OriginText(*txn_, begins); !origin.empty()) {
      entry.reason = std::move(origin);
    }
  }
  entry.pause = txn_->pause;
  entry.epoch = job->epoch;
  entry.flows = txn_->count.flows();
  if (entry.bytes_moved == 0) entry.bytes_moved = txn_->count.bytes();
  if (entry.gradients_moved == 0) entry.gradients_moved = txn_->gradients_done();
  publisher_.Record(entry);
  world_.fault_point("registrar.outcome");
  last_ = StatusOf(*txn_, timers_.now());
  last_->reason = reason;
  if (gave_up) last_->phase = engine::TxnPhase::kFailed;
  uses_.rendezvous.Forget(txn_->job, txn_->epoch, txn_->id);
  job->state = txn_->was_paused ? engine::JobState::kPaused : engine::JobState::kRunning;
  job->last_step = now;
  if (begins) {
    // After a restart of the registrar the client may not wait for the start any more.
    if (committed) {
      job->lost_start = false;
      job->start_request.clear();
      job->reason.clear();
      around_.started(*job);
    }
  } else if (txn_->recovery) {
    around_.recovered(*job, *txn_, committed && !gave_up, reason);
  }
  left_row_ = job->name;
  // On a full disk, events must not take the room. But after rounds that were given up the row is
  // needed until the job is journaled as suspended: its old ranks must not go on.
  if (!gave_up) EraseLeftRow();
  const std::string source = fmt::format("txn {}", txn_->id);
  if (gave_up) {
    AddEvent(engine::Severity::kError, source,
             fmt::format(
                 "failed between two rounds: {}; {} of {} rounds have moved the state of '{}'",
                 reason, txn_->run->machine().settled(), txn_->planned.rounds.size(), txn_->job));
  } else if (committed) {
    AddEvent(
        engine::Severity::kInfo, source,
        fmt::format("epoch {} committed, {}, pause {:.2f} s", job->epoch, digests, entry.pause));
  } else {
    AddEvent(engine::Severity::kWarning, source,
             fmt::format("rolled back: {}; {}", reason,
                         job->state == engine::JobState::kSuspended
                             ? "what is left of the state is unchanged"
                             : "the old layout is whole"));
  }
  std::string fail = gave_up || (begins && !committed) ? reason : std::string();
  RankEnd end = RankEnd::kCrash;
  for (const auto& [device, lost] : txn_->lost_ranks) {
    if (gave_up || job->state == engine::JobState::kSuspended) break;
    if (!job->layout.mesh().RankOf(device)) continue;  // it has left, or never joined
    if (end == RankEnd::kRefusal) break;
    fail = lost.reason;
    end = lost.end;
  }
  txn_.reset();
  around_.settled(*job);
  if (!fail.empty()) around_.interrupt(*job, fail, end);
  MarkDirty();
  publisher_.PublishState(timers_.now());
  world_.fault_point("registrar.ended");
  if (gave_up) EraseLeftRow();
}

// What is left lies as before in the tensors that these rounds have not moved.
void TransactionDesk::NoteRemains(Job& job) const {
  const int settled = txn_->run->machine().settled();
  const auto& rounds = txn_->planned.rounds;
  std::vector<int> moved;
  for (int r = 0; r < settled; ++r) {
    const std::vector<int>& tensors = rounds[static_cast<std::size_t>(r)].tensors;
    moved.insert(moved.end(), tensors.begin(), tensors.end());
  }
  std::sort(moved.begin(), moved.end());
  const std::uint64_t before = txn_->before->table_hash;
  const std::vector<ptc::DeviceId> lost =
      txn_->recovery ? txn_->recovery->lost : std::vector<ptc::DeviceId>();
  job.remains =
      Remains{txn_->before->where.After(txn_->planned.to, moved, lost),
              settled == 0 ? before : engine::MixedHash(before, txn_->planned.to.hash(), settled)};
  job.given_up[txn_->id] = settled;
  job.epoch = txn_->epoch - std::ssize(rounds) + settled;
}

Status TransactionDesk::NoteRound(const engine::SendOutcome& outcome) {
  const int round = engine::RoundToNote(outcome, txn_->run->machine().rounds());
  return round > txn_->noted_round ? PutRound({txn_->id, round}) : OkStatus();
}

Status TransactionDesk::PutRound(const RoundRow& row) {
  const Status put = journal_.Put(kRoundKey, ToText(row));
  publisher_.NoteJournaled(put);
  if (put) txn_->noted_round = row.round;
  return put;
}

engine::RowChange TransactionDesk::Row() const {
  TxnRow row{txn_->id,         txn_->job,        txn_->slot,
             txn_->epoch,      txn_->planned.to, txn_->planned.summary.to_options,
             txn_->was_paused, txn_->timeline,   txn_->entry.started};
  if (txn_->recovery) {
    row.recovery = {
        txn_->recovery->lost,   txn_->recovery->reason,
        txn_->recovery->step,   txn_->recovery->steps_lost,
        txn_->recovery->begins, txn_->checkpoint() ? txn_->checkpoint()->path : std::string()};
  }
  for (const engine::Round& round : txn_->planned.rounds) row.rounds.push_back(round.tensors);
  row.before = txn_->before;
  return {kTxnKey, ToText(row)};
}

// A restarted coordinator writes `abort` to the register and follows the decision that the register
// then holds.
Status TransactionDesk::Recover() {
  TESSERA_RETURN_IF_ERROR(
      acts_.Recover([this](const std::string& key, const std::string& value, const Error& why) {
        return SetAside(key, value, why);
      }));
  TESSERA_TRY(const std::optional<std::string> text, journal_.Get(kTxnKey));
  if (!text) {
    CloseRecords(0);
    return OkStatus();
  }
  auto parsed = ParseTxnRow(*text);
  // Its participants ask the register. If the change was committed, they hold a later epoch than
  // the row of the job, which then waits for a rebuild.
  if (!parsed) {
    TESSERA_RETURN_IF_ERROR(SetAside(kTxnKey, *text, parsed.error()));
    CloseRecords(0);
    return OkStatus();
  }
  TxnRow& row = *parsed;
  Job* job = jobs_.Find(row.job);
  CloseRecords(job ? row.id : 0);
  if (!job) return journal_.Write(kNoTxnRows);

  engine::HistoryEntry entry = RecordOf(row, *job);
  TESSERA_TRY(ptc::DeviceMesh old_mesh, ptc::ParseDeviceMesh(entry.from));
  engine::Coordinator::Setup setup;
  const std::vector<ptc::DeviceId> lost_before =
      row.recovery ? row.recovery->lost : std::vector<ptc::DeviceId>();
  setup.participants =
      NodesOf(row.before ? row.before->where.devices() : old_mesh.devices(), lost_before);
  if (!row.recovery) setup.pausing = setup.participants;
  setup.participants.merge(NodesOf(row.to.mesh()));
  setup.rounds = static_cast<int>(row.rounds.size());
  TESSERA_TRY(const std::optional<std::string> round_text, journal_.Get(kRoundKey));
  if (round_text) {
    auto noted_row = ParseRoundRow(*round_text);
    const bool is_possible =
        noted_row && (noted_row->id != row.id ||
                      (noted_row->round >= 1 && noted_row->round <= setup.rounds + 1));
    if (!is_possible) {
      const Error why = noted_row
                            ? DataLoss(fmt::format("journal row 'txn-round' has round {} of {}",
                                                   noted_row->round, setup.rounds))
                            : noted_row.error();
      TESSERA_RETURN_IF_ERROR(SetAside(kRoundKey, *round_text, why));
      TESSERA_RETURN_IF_ERROR(SetAside(kTxnKey, *text, why));
      CloseRecords(0);
      return OkStatus();
    }
    RoundRow& noted = *noted_row;
    if (noted.id == row.id) {
      setup.round = noted.round;
      setup.given_up = std::move(noted.given_up);
      setup.settled = noted.round - 1;
    }
  }

  engine::PlanSummary summary;
  summary.from_mesh = old_mesh.shape();
  summary.from_devices = old_mesh.devices();
  summary.to_mesh = row.to.mesh().shape();
  summary.to_devices = row.to.mesh().devices();
  summary.from_options = entry.from_options;
  summary.to_options = row.options;
  ptc::PlanFigures plan;
  plan.to_hash = row.to.hash();
  txn_.emplace(Planned{std::move(row.to), std::move(plan), std::move(summary)}, timers_.now());
  txn_->id = row.id;
  txn_->job = job->name;
  txn_->slot = row.slot;
  txn_->epoch = row.epoch;
  txn_->timeline = row.timeline < 0 ? job->timeline : row.timeline;
  txn_->was_paused = row.was_paused;
  for (std::vector<int>& tensors : row.rounds) {
    txn_->planned.rounds.push_back({.tensors = std::move(tensors)});
  }
  txn_->before = std::move(row.before);
  txn_->noted_round = setup.round;
  if (row.recovery) {
    txn_->recovery = {std::move(row.recovery->lost), row.recovery->step,
                      std::move(row.recovery->reason), row.recovery->steps_lost};
    txn_->recovery->begins = row.recovery->begins;
    if (!row.recovery->checkpoint.empty()) {
      txn_->recovery->checkpoint = StoredState{
          row.recovery->checkpoint, row.recovery->checkpoint, row.recovery->step, false, {}, {}};
    }
    job->stays_paused = row.was_paused;
  }
  txn_->entry = std::move(entry);
  // The start of the pause follows from the record, if that was written before the restart.
  if (const auto& phases = txn_->entry.phases; phases.contains("transferring")) {
    double began = txn_->entry.started;
    for (const char* phase : {"preparing", "precopying", "pausing"}) {
      if (const auto it = phases.find(phase); it != phases.end()) began += it->second;
    }
    const auto paused_for =
        std::chrono::duration<double>(std::max(0.0, world_.wall_clock() - began));
    txn_->paused_since = timers_.now() - std::chrono::duration_cast<Clock::duration>(paused_for);
  }
  job->state = row.was_paused && !txn_->recovery ? engine::JobState::kPaused
                                                 : engine::JobState::kReconfiguring;
  AddEvent(engine::Severity::kWarning, fmt::format("txn {}", row.id),
           "the registrar's agent restarted: reading the outcome from the register");
  for (const std::int32_t node : setup.participants) members_.Expect(node, timers_.now());
  txn_->run = MakeRun(engine::Coordinator::Recovered(setup));
  txn_->run->Recover();
  return OkStatus();
}

// The history is never waited for: what it lacks, or what cannot be read there, follows from the
// rows of the journal.
engine::HistoryEntry TransactionDesk::RecordOf(const TxnRow& row, const Job& job) const {
  const auto known = world_.history.Transaction(row.id);
  engine::HistoryEntry entry;
  if (known && *known) entry = **known;
  entry.id = row.id;
  entry.job = job.name;
  entry.origin = static_cast<std::int64_t>(job.start);
  if (!known || !*known) {
    entry.to = ToString(row.to.mesh());
    entry.started = row.started;
  }
  const auto old_mesh = ptc::ParseDeviceMesh(entry.from);
  if (!old_mesh) entry.from = ToString(job.layout.mesh());
  const bool is_missing = known && !*known;  // the history was damaged and replaced by an empty one
  if (!is_missing && (!known || !old_mesh)) {
    AddEvent(engine::Severity::kWarning, fmt::format("txn {}", row.id),
             fmt::format("its record in the history cannot be read: {}",
                         known ? old_mesh.error().message : known.error().message));
  }
  return entry;
}

// A registrar that restarts would follow the outcome again, and end a pause that has begun since.
void TransactionDesk::EraseLeftRow() {
  if (!left_row_) return;
  const Job* const job = jobs_.Find(*left_row_);
  if (job ? jobs_.Journal(*job, kNoTxnRows) : journal_.Write(kNoTxnRows)) left_row_.reset();
}

bool TransactionDesk::HadParticipant(std::int64_t transaction, const std::string& job,
                                     std::int32_t node) const {
  const auto entry = world_.history.Transaction(transaction);
  if (!entry || !*entry || (**entry).job != job) return false;
  for (const std::string& text : {(**entry).from, (**entry).to}) {
    const auto mesh = ptc::ParseDeviceMesh(text);
    if (mesh && NodesOf(*mesh).contains(node)) return true;
  }
  return false;
}

// A registrar that dies between the record and the journal leaves a record of a transaction that
// has never begun. One that dies while the history cannot be written loses the outcome.
void TransactionDesk::CloseRecords(std::int64_t running) {
  const auto entries = world_.history.Transactions({.open = true});
  if (!entries) return;  // its error shows with the next write
  const auto upcoming = uses_.numbers.Upcoming();
  for (const engine::HistoryEntry& entry : *entries) {
    if (entry.id == running) continue;
    CloseRecord(entry, upcoming && entry.id >= *upcoming);
  }
}

// A number that this journal has not given is of a journal before it: that was lost, or the cluster
// was stopped. Nodes may have followed a decision that was in it.
void TransactionDesk::CloseRecord(const engine::HistoryEntry& entry, bool is_of_before) {
  uses_.decisions.FindOutcome(
      entry.job, entry.id,
      [this, entry, is_of_before](const Result<std::optional<engine::Decision>>& held) {
        if (!held) {
          timers_.After(kReadAgain,
                        [this, entry, is_of_before] { CloseRecord(entry, is_of_before); });
          return;
        }
        engine::HistoryEntry closed = entry;
        const Job* const job = jobs_.Find(entry.job);
        const bool committed = *held && (*held)->commit;
        const bool gave_up = job && job->given_up.contains(entry.id);
        closed.result = gave_up ? "failed" : committed ? "committed" : "rolled_back";
        closed.reason = *held ? "the registrar's agent ended before it recorded the outcome"
                              : "the registrar's agent ended before the transaction began";
        if (!*held && is_of_before) {
          closed.result = "unknown";
          closed.reason =
              "registrar.db, which had its outcome, was lost, or the cluster was stopped; "
              "`tesseractl status` shows the job if it is still there";
        }
        if (committed) {
          closed.epoch = (*held)->epoch;
          closed.step = (*held)->step;
        }
        publisher_.Record(closed);
        AddEvent(engine::Severity::kWarning, fmt::format("txn {}", entry.id),
                 fmt::format("its outcome was missing in the history: {}", closed.result));
      });
}

}  // namespace tessera::agents
