// SPDX-License-Identifier: Apache-2.0
#include "agents/registrar/table_rebuilder.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "engine/model/gpt.h"
#include "engine/search/fit.h"
#include "engine/txn/decision.h"
#include "engine/txn/participant.h"

namespace tessera::agents {
namespace {

constexpr auto kDeadline = std::chrono::seconds(10);

/// The options that lead to this collection. The node's row has the micro batch only.
Result<engine::StepOptions> OptionsOf(const JobRow& row) {
  TESSERA_TRY(const engine::JobSettings settings, engine::ParseJobSettings(row.settings));
  TESSERA_TRY(const ptc::CollectionPtr plain, engine::MakeCollection(settings, false));
  return engine::StepOptions{!(*plain == row.layout.collection()), row.micro_batch};
}

std::string NamesOf(const std::vector<std::string>& jobs) {
  return fmt::format("'{}'", fmt::join(jobs, "', '"));
}

// A node that has only just been named may be about to register, so it is not given up yet.
Status CheckThere(std::int32_t number, const std::string& role, const Membership& members) {
  const Membership::Node* const node = members.Find(number);
  if (node &&
      (node->state == engine::NodeState::kDead || node->state == engine::NodeState::kAlive)) {
    return OkStatus();
  }
  if (node && node->state == engine::NodeState::kUnmanaged) {
    return Unavailable(
        fmt::format("n{} {} and is not there: start it, or give it up with "
                    "`tesseractl node give-up n{}`, and rebuild again",
                    number, role, number));
  }
  return Unavailable(
      fmt::format("n{} {} and has not reported yet: rebuild again when "
                  "`tesseractl status` lists it as alive or unmanaged",
                  number, role));
}

/// Decisions that end the changes of a job whose state is not needed any more, by slot. A node that
/// has committed accepts only a commit. It then leaves the rounds that it has not moved.
std::map<std::int64_t, engine::Decision> DecisionsToEnd(
    const std::map<std::int32_t, wire::HeldChange>& changes) {
  std::map<std::int64_t, engine::Decision> out;
  for (const auto& [node, change] : changes) {
    const auto state = engine::ParseParticipantState(change.state());
    const auto [decision, is_new] =
        out.try_emplace(change.slot(), engine::AbortOf(change.transaction()));
    if (!state || *state != engine::ParticipantState::kCommitted) continue;
    decision->second = {.commit = true,
                        .transaction = change.transaction(),
                        .epoch = change.epoch(),
                        .layout_hash = ptc::Hex16(change.to_hash())};
  }
  return out;
}

/// A change, as the nodes that take part in it show it.
struct ShownChange {
  std::int64_t slot = 0;
  bool all_have_promised = true;          // to follow a commit, of those that show it
  bool is_committed = false;              // by one of them
  std::set<std::int32_t> nodes, showing;  // all participants, and those that show it
};

}  // namespace

Result<JobTableRow> RowFromNodes(const std::string& job, const HeldOfJob& held,
                                 const Membership& members) {
  const JobRow* newest = nullptr;
  for (const auto& [node, row] : held.rows) {
    if (!newest || std::tie(row.origin, row.epoch) > std::tie(newest->origin, newest->epoch)) {
      newest = &row;
    }
  }
  std::set<std::int32_t> nodes = NodesOf(newest->layout.mesh());
  for (const auto& [node, row] : held.rows) nodes.insert(node);
  const std::string role = fmt::format("holds a part of job '{}'", job);
  for (const std::int32_t node : nodes) TESSERA_RETURN_IF_ERROR(CheckThere(node, role, members));
  JobTableRow out{*newest};
  TESSERA_TRY(out.options, OptionsOf(*newest));
  bool has_ranks = false;
  std::optional<std::int64_t> step;
  for (const ptc::DeviceId id : newest->layout.mesh().devices()) {
    const wire::NodeDevice* const device = members.FindDevice(id);
    if (!device || device->job() != job || device->epoch() != newest->epoch) continue;
    has_ranks = has_ranks || device->has_rank();
    step = std::min(step.value_or(device->end()), device->end());
  }
  out.step = step.value_or(0);
  out.state = has_ranks ? engine::JobState::kRunning : engine::JobState::kSuspended;
  if (!has_ranks) out.reason = "its ranks had ended when the job table was rebuilt";
  return out;
}

Result<std::map<std::int64_t, std::int64_t>> ChangesToAbort(const std::string& job,
                                                            const HeldOfJob& held,
                                                            const std::set<std::int32_t>& answered,
                                                            const Membership& members) {
  using State = engine::ParticipantState;
  std::map<std::int64_t, ShownChange> shown;  // by transaction
  for (const auto& [node, change] : held.changes) {
    const auto state = engine::ParseParticipantState(change.state());
    const bool has_committed = !state || *state == State::kCommitted;
    // The registrar lets nodes go that have followed a commit, unless rounds are left to move.
    if (has_committed && !change.in_rounds()) {
      return Unavailable(fmt::format("n{} is still ending change {} of job '{}': rebuild again",
                                     node, change.transaction(), job));
    }
    ShownChange& of_all = shown[change.transaction()];
    of_all.slot = change.slot();
    of_all.is_committed = of_all.is_committed || has_committed;
    of_all.all_have_promised =
        of_all.all_have_promised && (has_committed || *state == State::kVerified);
    of_all.showing.insert(node);
    of_all.nodes.insert(change.nodes().begin(), change.nodes().end());
  }
  std::map<std::int64_t, std::int64_t> out;
  for (const auto& [transaction, change] : shown) {
    out[change.slot] = transaction;
    // One that has followed a commit shows it, or has forgotten the change.
    const bool show_all = std::ranges::includes(change.showing, change.nodes);
    if (!change.all_have_promised || (show_all && !change.is_committed)) continue;
    const std::string role = fmt::format("takes part in change {} of job '{}'", transaction, job);
    for (const std::int32_t node : change.nodes) {
      TESSERA_RETURN_IF_ERROR(CheckThere(node, role, members));
      const bool is_alive = members.Find(node)->state == engine::NodeState::kAlive;
      if (is_alive && !answered.contains(node)) {
        return Unavailable(fmt::format("n{} {} and has not answered: rebuild again", node, role));
      }
    }
    return FailedPrecondition(fmt::format(
        "the nodes of job '{}' have promised to follow the decision of change {}, which "
        "was in the lost registrar.db: put a copy of the file back",
        job, transaction));
  }
  return out;
}

struct TableRebuilder::Told {
  std::map<std::string, HeldOfJob> jobs;           // that the table does not explain
  std::map<std::string, Error> unreadable;         // of these, why a row cannot be read
  std::map<std::uint64_t, SnapshotRow> snapshots;  // by id
  std::set<std::int32_t> answered;
  std::vector<std::string> left;
  std::int64_t last_number = 0;
};

struct TableRebuilder::Run {
  std::vector<Restorable> jobs;                    // the first one last
  std::map<std::uint64_t, SnapshotRow> snapshots;  // by id
  std::vector<std::string> restored, left;
  std::vector<std::string> rowless;  // changes of jobs of which no node has a row to restore
  ReplyPtr reply;
};

void TableRebuilder::AskHeld(std::function<void(NodeQueryClient::Answers answers)> then) {
  wire::NodeQuery query;
  query.mutable_held();
  uses_.queries.Query(members_.Alive(), std::move(query), kDeadline, std::move(then));
}

TableRebuilder::Told TableRebuilder::Read(const NodeQueryClient::Answers& answers) const {
  Told told;
  for (const auto& [node, answer] : answers) {
    if (!answer) {
      told.left.push_back(fmt::format("n{} has not answered: {}", node, answer.error().ToString()));
      continue;
    }
    told.answered.insert(node);
    told.last_number = std::max(told.last_number, answer->held().last_number());
    for (const wire::HeldJobRow& row : answer->held().jobs()) {
      if (jobs_.IsExplainedOn(node, row.job())) continue;
      if (const Status is_same = jobs_.CheckNode(node, row.job()); !is_same) {
        told.left.push_back(is_same.error().message);
        continue;
      }
      HeldOfJob& held = told.jobs[row.job()];
      auto parsed = ParseJobRow(fmt::format("job/{} of n{}", row.job(), node), row.row());
      if (!parsed) {
        told.left.push_back(parsed.error().message);
        told.unreadable.emplace(row.job(), parsed.error());
      } else {
        held.rows.emplace(node, std::move(*parsed));
      }
    }
    for (const std::string& text : answer->held().snapshots()) {
      auto parsed = ParseSnapshotRow(fmt::format("snapshot/ of n{}", node), text);
      if (parsed) told.snapshots.insert_or_assign(parsed->id, std::move(*parsed));
    }
  }
  for (const auto& [node, answer] : answers) {
    if (!answer || !answer->held().has_change()) continue;
    const wire::HeldChange& change = answer->held().change();
    if (change.slot() < 1 || change.slot() >= Decisions::kLastSlot) continue;
    // Nodes that the change has brought to the job may hold no row of it.
    if (told.jobs.contains(change.job()) ||
        !(jobs_.Find(change.job()) || jobs_.IsExplainedOn(node, change.job()))) {
      told.jobs[change.job()].changes.emplace(node, change);
    }
  }
  return told;
}

Result<TableRebuilder::Restorable> TableRebuilder::RestorableFrom(const std::string& name,
                                                                  const Told& told) {
  const auto found = told.jobs.find(name);
  if (found == told.jobs.end()) {
    return Unavailable(fmt::format("the nodes that hold job '{}' have not answered", name));
  }
  const HeldOfJob& held = found->second;
  for (const auto& [holder, change] : held.changes) {
    for (const std::int32_t node : change.nodes()) members_.Expect(node, timers_.now());
  }
  if (const auto bad = told.unreadable.find(name); held.rows.empty()) {
    if (bad != told.unreadable.end()) return bad->second;
    const auto& [node, change] = *held.changes.begin();
    return Unavailable(fmt::format(
        "n{} takes part in change {} of job '{}', and no node that is there holds its row", node,
        change.transaction(), name));
  }
  // A node that was lost before the table may be unknown, and has to be given up.
  for (const auto& [holder, row] : held.rows) {
    for (const std::int32_t node : NodesOf(row.layout.mesh())) members_.Expect(node, timers_.now());
  }
  TESSERA_TRY(JobTableRow row, RowFromNodes(name, held, members_));
  Restorable out{name, std::move(row), {}};
  if (!OutlivesJournal()) {
    TESSERA_TRY(out.to_abort, ChangesToAbort(name, held, told.answered, members_));
  }
  return out;
}

// The embedded register is in the journal.
bool TableRebuilder::OutlivesJournal() const { return !config_.etcd.endpoints.empty(); }

// Participants ask about a slot until they are told.
void TableRebuilder::Decide(const std::string& job,
                            std::map<std::int64_t, engine::Decision> decisions, Decided then,
                            std::vector<engine::Decision> known) {
  if (decisions.empty()) return then(std::move(known));
  const auto [slot, decision] = *decisions.begin();
  decisions.erase(decisions.begin());
  uses_.decisions.decision_register().Write(
      job, slot, decision,
      [this, job, decisions = std::move(decisions), then = std::move(then),
       known = std::move(known)](const Result<engine::Decision>& held) mutable {
        if (!held) return then(held.error());
        known.push_back(*held);
        Decide(job, std::move(decisions), std::move(then), std::move(known));
      });
}

// ---- rebuild

void TableRebuilder::OnRebuild(const ReplyPtr& reply) {
  if (const Status idle = around_.check_idle(); !idle) return reply->Fail(idle.error());
  AskHeld([this, reply](const NodeQueryClient::Answers& answers) { OnAnswers(answers, reply); });
}

void TableRebuilder::OnAnswers(const NodeQueryClient::Answers& answers, const ReplyPtr& reply) {
  Told told = Read(answers);
  const auto run = std::make_shared<Run>();
  run->reply = reply;
  run->left = told.left;
  for (const auto& [name, held] : told.jobs) {
    if (held.rows.empty() && told.unreadable.contains(name)) continue;  // that is said already
    auto job = RestorableFrom(name, told);
    if (job) {
      run->jobs.push_back(std::move(*job));
    } else {
      (held.rows.empty() ? run->rowless : run->left).push_back(job.error().message);
    }
  }
  run->snapshots = std::move(told.snapshots);
  std::reverse(run->jobs.begin(), run->jobs.end());
  // Numbers that nodes have seen are not used again: they would take a message for an old one.
  if (const Status skipped = uses_.numbers.SkipTo(told.last_number); !skipped) {
    run->left.push_back(skipped.error().message);
  }
  RestoreNext(run);
}

void TableRebuilder::RestoreNext(const std::shared_ptr<Run>& run) {
  if (run->jobs.empty()) return Finish(*run);
  const auto job = std::make_shared<Restorable>(std::move(run->jobs.back()));
  run->jobs.pop_back();
  std::map<std::int64_t, engine::Decision> decisions;
  for (const auto& [slot, transaction] : job->to_abort) {
    decisions[slot] = engine::AbortOf(transaction);
  }
  Decide(job->name, std::move(decisions), [this, run, job](const auto& decided) {
    if (decided) return RestoreDecided(run, job, *decided);
    run->left.push_back(fmt::format("job '{}': {}", job->name, decided.error().ToString()));
    RestoreNext(run);
  });
}

void TableRebuilder::RestoreDecided(const std::shared_ptr<Run>& run,
                                    const std::shared_ptr<Restorable>& job,
                                    const std::vector<engine::Decision>& decisions) {
  for (const engine::Decision& held : decisions) {
    // If it holds a commit, the register was not lost. Nodes learn that from it when the table
    // explains their job.
    AddEvent(engine::Severity::kWarning, job->name,
             held.commit ? fmt::format("its change {} was committed: rebuild again once its nodes "
                                       "have followed that",
                                       held.transaction)
                         : fmt::format("its change {} is rolled back: it was not committed when "
                                       "registrar.db was lost",
                                       held.transaction));
  }
  uses_.decisions.FindFree(job->name, [this, run, job](const Result<std::int64_t>& slot) {
    Status done = slot ? OkStatus() : Status(slot.error());
    if (done) {
      job->row.slot = *slot;
      done = Restore(job->name, std::move(job->row));
      if (done) AdoptSnapshot(*jobs_.Find(job->name), *run);
    }
    if (done) {
      run->restored.push_back(job->name);
    } else {
      run->left.push_back(fmt::format("job '{}': {}", job->name, done.error().ToString()));
    }
    RestoreNext(run);
  });
}

Status TableRebuilder::Restore(const std::string& name, JobTableRow row) {
  TESSERA_RETURN_IF_ERROR(around_.check_idle());
  TESSERA_TRY(Job* const job, jobs_.Restore(name, std::move(row)));
  AddEvent(
      engine::Severity::kWarning, name,
      fmt::format("its row in the job table was rebuilt from its nodes: epoch {}, after step {}",
                  job->epoch, job->step));
  around_.restored(*job);
  return OkStatus();
}

void TableRebuilder::AdoptSnapshot(const Job& job, const Run& run) {
  std::vector<SnapshotRow> rows;
  std::map<std::uint64_t, std::set<std::int32_t>> holders;
  std::optional<std::int64_t> earlier;  // step of the newest one that does not count
  for (const auto& [id, row] : run.snapshots) {
    if (row.state.job != job.name || !job.MayOwn(row.state.origin)) continue;
    // Only the lost row told whether the job had returned to a snapshot of an earlier timeline.
    if (row.state.timeline != job.timeline) {
      earlier = std::max(earlier.value_or(row.state.step), row.state.step);
      continue;
    }
    rows.push_back(row);
    for (const auto& [number, node] : members_.nodes()) {
      const bool is_there = node.state == engine::NodeState::kAlive;
      if (is_there && node.snapshots.contains(id)) holders[id].insert(number);
    }
  }
  const auto adopted = uses_.snapshots.Adopt(std::move(rows), holders);
  if (!adopted) {
    publisher_.NoteJournaled(adopted.error());
    return;
  }
  if (earlier && !adopted->step && !adopted->incomplete) {
    AddEvent(engine::Severity::kWarning, job.name,
             fmt::format("it cannot return to the snapshot of step {}, which was taken before the "
                         "job went back to an earlier step",
                         *earlier));
  }
  if (adopted->incomplete) {
    AddEvent(engine::Severity::kWarning, job.name,
             fmt::format("it cannot return to the snapshot of step {}: the nodes that are there do "
                         "not hold all of it",
                         *adopted->incomplete));
  }
  if (adopted->step) {
    AddEvent(engine::Severity::kWarning, job.name,
             fmt::format("it can return to the snapshot of step {}, which its nodes still hold; "
                         "choose again with `tesseractl job snapshots {}` whether snapshots are "
                         "taken",
                         *adopted->step, job.name));
  }
}

void TableRebuilder::Finish(const Run& run) {
  if (run.left.empty() && around_.completed) around_.completed();
  // No node that is here could restore them.
  std::vector<std::string> left = run.left;
  left.insert(left.end(), run.rowless.begin(), run.rowless.end());
  for (const std::string& name : jobs_.SetAsideJobs()) {
    left.push_back(jobs_.CheckExplained(name).error().message);
  }
  wire::Reply out;
  for (const std::string& name : run.restored) out.mutable_rebuild()->add_jobs(name);
  for (const std::string& why : left) out.mutable_rebuild()->add_left(why);
  out.mutable_rebuild();
  AddEvent(left.empty() ? engine::Severity::kInfo : engine::Severity::kWarning, "registrar",
           fmt::format("the job table was rebuilt: {} restored{}{}",
                       run.restored.empty() ? "no job" : NamesOf(run.restored),
                       left.empty() ? "" : fmt::format("; {}", fmt::join(left, "; ")),
                       run.reply->RequesterText()));
  MarkDirty();
  run.reply->Done(std::move(out));
}

// ---- the end of a job that cannot be restored

void TableRebuilder::OnStop(const std::string& name, bool destroys, const ReplyPtr& reply) {
  if (const Status idle = around_.check_idle(); !idle) return reply->Fail(idle.error());
  AskHeld([this, name, destroys, reply](const NodeQueryClient::Answers& answers) {
    StopWith(name, destroys, Read(answers), reply);
  });
}

void TableRebuilder::StopWith(const std::string& name, bool destroys, const Told& told,
                              const ReplyPtr& reply) {
  const Status unknown = jobs_.CheckStoppable(name);
  if (unknown) {
    return reply->Fail(Unavailable(
        fmt::format("what nodes hold of job '{}' has changed meanwhile: try again", name)));
  }
  const auto restorable = RestorableFrom(name, told);
  if (restorable) return reply->Fail(unknown.error());
  const Error& why = restorable.error();
  if (why.code == ErrorCode::kUnavailable) return reply->Fail(why);
  const HeldState held = HeldStateOf(name);
  if (!destroys) {
    return reply->Fail(FailedPrecondition(fmt::format(
        "job '{}' cannot be restored: {}. Its nodes hold {}: `tesseractl job stop {} --destroy` "
        "frees that for good",
        name, why.message, held.text, name)));
  }
  std::map<std::int64_t, engine::Decision> decisions;
  const auto of_job = told.jobs.find(name);
  if (of_job != told.jobs.end() && !OutlivesJournal())
    decisions = DecisionsToEnd(of_job->second.changes);
  Decide(name, std::move(decisions), [this, name, held, reply](const auto& decided) {
    if (!decided) return reply->Fail(decided.error());
    Destroy(name, held, reply);
  });
}

void TableRebuilder::Destroy(const std::string& name, const HeldState& held,
                             const ReplyPtr& reply) {
  if (const Status ended = jobs_.EndUnknown(name); !ended) return reply->Fail(ended.error());
  AddEvent(engine::Severity::kWarning, name,
           fmt::format("destroyed, because it could not be restored; its nodes held {}{}",
                       held.text, reply->RequesterText()));
  around_.destroyed(name);
  for (const auto& [number, node] : members_.nodes()) jobs_.NoteHeld(node);
  MarkDirty();
  wire::Reply out;
  out.mutable_job()->set_step(held.step);
  reply->Done(std::move(out));
}

TableRebuilder::HeldState TableRebuilder::HeldStateOf(const std::string& name) const {
  HeldState out;
  for (const auto& [number, held] : jobs_.unknown().HoldersOf(name)) {
    std::int64_t step = 0, bytes = 0;
    for (const ptc::DeviceId id : held.devices) {
      const wire::NodeDevice* const device = members_.FindDevice(id);
      if (!device) continue;
      step = std::max(step, device->end());
      bytes += device->used();
    }
    out.step = std::max(out.step, step);
    out.text += fmt::format("{}{} on n{} (epoch {}, step {})", out.text.empty() ? "" : ", ",
                            engine::BytesText(bytes), number, held.epoch, step);
  }
  return out;
}

}  // namespace tessera::agents
