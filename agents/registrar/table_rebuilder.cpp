// SPDX-License-Identifier: Apache-2.0
#include "agents/registrar/table_rebuilder.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "engine/model/gpt.h"
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

/// A change, as the nodes that take part in it show it.
struct ShownChange {
  std::int64_t slot = 0, epoch = 0;
  bool may_be_committed = true;  // all of these nodes have promised to follow a commit
  std::set<std::int32_t> nodes;  // all participants
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
  const auto committed = [&job](std::int32_t node, std::int64_t transaction) {
    return FailedPrecondition(
        fmt::format("n{} has committed change {} of job '{}', others have not, and the lost "
                    "registrar.db had its decision: put a copy of the file back",
                    node, transaction, job));
  };
  std::map<std::int64_t, ShownChange> shown;  // by transaction
  for (const auto& [node, change] : held.changes) {
    const auto state = engine::ParseParticipantState(change.state());
    if (!state || *state == State::kCommitted) return committed(node, change.transaction());
    ShownChange& of_all = shown[change.transaction()];
    of_all.slot = change.slot();
    of_all.epoch = change.epoch();
    of_all.may_be_committed = of_all.may_be_committed && *state == State::kVerified;
    of_all.nodes.insert(change.nodes().begin(), change.nodes().end());
  }
  std::map<std::int64_t, std::int64_t> out;
  for (const auto& [transaction, change] : shown) {
    out[change.slot] = transaction;
    if (!change.may_be_committed) continue;
    for (const auto& [node, row] : held.rows) {
      if (row.epoch >= change.epoch) return committed(node, transaction);
    }
    const std::string role = fmt::format("takes part in change {} of job '{}'", transaction, job);
    for (const std::int32_t node : change.nodes) {
      TESSERA_RETURN_IF_ERROR(CheckThere(node, role, members));
      const bool is_alive = members.Find(node)->state == engine::NodeState::kAlive;
      if (is_alive && !answered.contains(node)) {
        return Unavailable(fmt::format("n{} {} and has not answered: rebuild again", node, role));
      }
    }
  }
  return out;
}

struct TableRebuilder::Run {
  std::vector<Restorable> jobs;                    // the first one last
  std::map<std::uint64_t, SnapshotRow> snapshots;  // by id
  std::vector<std::string> restored, left;
  std::int64_t last_number = 0;
  ReplyPtr reply;
};

void TableRebuilder::OnRebuild(const ReplyPtr& reply) {
  if (const Status idle = around_.check_idle(); !idle) return reply->Fail(idle.error());
  wire::NodeQuery query;
  query.mutable_held();
  uses_.queries.Query(
      members_.Alive(), std::move(query), kDeadline,
      [this, reply](const NodeQueryClient::Answers& answers) { OnAnswers(answers, reply); });
}

void TableRebuilder::OnAnswers(const NodeQueryClient::Answers& answers, const ReplyPtr& reply) {
  const auto run = std::make_shared<Run>();
  run->reply = reply;
  std::map<std::string, HeldOfJob> held;
  std::set<std::int32_t> answered;
  for (const auto& [node, answer] : answers) {
    if (!answer) {
      run->left.push_back(fmt::format("n{} has not answered: {}", node, answer.error().ToString()));
      continue;
    }
    answered.insert(node);
    run->last_number = std::max(run->last_number, answer->held().last_number());
    for (const wire::HeldJobRow& row : answer->held().jobs()) {
      if (jobs_.IsExplainedOn(node, row.job())) continue;
      if (const Status is_same = jobs_.CheckNode(node, row.job()); !is_same) {
        run->left.push_back(is_same.error().message);
        continue;
      }
      auto parsed = ParseJobRow(fmt::format("job/{} of n{}", row.job(), node), row.row());
      if (!parsed) {
        run->left.push_back(parsed.error().message);
      } else {
        held[row.job()].rows.emplace(node, std::move(*parsed));
      }
    }
    for (const std::string& text : answer->held().snapshots()) {
      auto parsed = ParseSnapshotRow(fmt::format("snapshot/ of n{}", node), text);
      if (parsed) run->snapshots.insert_or_assign(parsed->id, std::move(*parsed));
    }
  }
  for (const auto& [node, answer] : answers) {
    if (!answer || !answer->held().has_change()) continue;
    const wire::HeldChange& change = answer->held().change();
    if (const auto of_job = held.find(change.job()); of_job != held.end()) {
      of_job->second.changes.emplace(node, change);
    }
  }
  for (auto& [name, of_job] : held) {
    auto job = RestorableFrom(name, of_job, answered);
    if (job) {
      run->jobs.push_back(std::move(*job));
    } else {
      run->left.push_back(job.error().message);
    }
  }
  std::reverse(run->jobs.begin(), run->jobs.end());
  // Numbers that nodes have seen are not used again: they would take a message for an old one.
  if (const Status skipped = uses_.numbers.SkipTo(run->last_number); !skipped) {
    run->left.push_back(skipped.error().message);
  }
  RestoreNext(run);
}

Result<TableRebuilder::Restorable> TableRebuilder::RestorableFrom(
    const std::string& name, const HeldOfJob& held, const std::set<std::int32_t>& answered) {
  // A node that was lost before the table may be unknown, and has to be given up.
  for (const auto& [holder, row] : held.rows) {
    for (const std::int32_t node : NodesOf(row.layout.mesh())) members_.Expect(node, timers_.now());
  }
  for (const auto& [holder, change] : held.changes) {
    for (const std::int32_t node : change.nodes()) members_.Expect(node, timers_.now());
  }
  TESSERA_TRY(JobTableRow row, RowFromNodes(name, held, members_));
  Restorable out{name, std::move(row), {}};
  const bool outlives_journal = !config_.etcd.endpoints.empty();
  if (!outlives_journal) {
    TESSERA_TRY(out.to_abort, ChangesToAbort(name, held, answered, members_));
  }
  return out;
}

void TableRebuilder::RestoreNext(const std::shared_ptr<Run>& run) {
  if (run->jobs.empty()) return Finish(*run);
  if (run->jobs.back().to_abort.empty()) return RestoreFirst(run);
  AbortNext(run);
}

// Participants ask about the slot until they are told.
void TableRebuilder::AbortNext(const std::shared_ptr<Run>& run) {
  const Restorable& job = run->jobs.back();
  const auto [slot, transaction] = *job.to_abort.begin();
  uses_.decisions.decision_register().Write(
      job.name, slot, engine::AbortOf(transaction),
      [this, run, transaction](const Result<engine::Decision>& held) {
        Restorable& of = run->jobs.back();
        if (!held) {
          run->left.push_back(fmt::format("job '{}': {}", of.name, held.error().ToString()));
          run->jobs.pop_back();
        } else {
          of.to_abort.erase(of.to_abort.begin());
          AddEvent(engine::Severity::kWarning, of.name,
                   fmt::format("its change {} is rolled back: it was not committed when "
                               "registrar.db was lost",
                               transaction));
        }
        RestoreNext(run);
      });
}

void TableRebuilder::RestoreFirst(const std::shared_ptr<Run>& run) {
  auto next = std::make_shared<Restorable>(std::move(run->jobs.back()));
  run->jobs.pop_back();
  uses_.decisions.FindFree(next->name, [this, run, next](const Result<std::int64_t>& slot) {
    Status done = slot ? OkStatus() : Status(slot.error());
    if (done) {
      next->row.slot = *slot;
      done = Restore(next->name, std::move(next->row));
      if (done) AdoptSnapshot(*jobs_.Find(next->name), *run);
    }
    if (done) {
      run->restored.push_back(next->name);
    } else {
      run->left.push_back(fmt::format("job '{}': {}", next->name, done.error().ToString()));
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

}  // namespace tessera::agents
