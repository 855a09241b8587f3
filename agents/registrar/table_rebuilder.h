// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Restores rows of the job table from what nodes hold, after the registrar's journal was lost.

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "agents/node/job_row.h"
#include "agents/registrar/decisions.h"
#include "agents/registrar/job_table.h"
#include "agents/registrar/node_query_client.h"
#include "agents/registrar/pending_reply.h"
#include "agents/registrar/registrar_part.h"
#include "agents/registrar/snapshot_desk.h"
#include "agents/registrar/transaction_numbers.h"
#include "agents/wire/tessera/wire/node.pb.h"
#include "engine/txn/decision.h"

namespace tessera::agents {

/// What the nodes that have answered hold of a job.
struct HeldOfJob {
  std::map<std::int32_t, JobRow> rows;               // by node
  std::map<std::int32_t, wire::HeldChange> changes;  // in which these nodes take part
};

/// The row of a job from the rows of the nodes that hold it: the layout of the latest epoch counts.
/// \pre `held` has a row
/// \error kUnavailable naming a node of the job that is not there, unless it was given up
Result<JobTableRow> RowFromNodes(const std::string& job, const HeldOfJob& held,
                                 const Membership& members);

/// The changes of the job that are not committed, by slot of the decision register. Their decisions
/// were in the lost journal. A commit needs the promise of every participant, so a change that one
/// of them has not promised to follow can be aborted, and so can one that all participants show and
/// none has committed. Otherwise one may have followed a commit and left the job, with which it
/// forgets the change.
/// \param answered the nodes that have said what they hold
/// \error kUnavailable naming a participant that is not there, unless it was given up, or that
///     follows a commit; kFailedPrecondition if the change may be committed
Result<std::map<std::int64_t, std::int64_t>> ChangesToAbort(const std::string& job,
                                                            const HeldOfJob& held,
                                                            const std::set<std::int32_t>& answered,
                                                            const Membership& members);

class TableRebuilder : public RegistrarPart {
 public:
  struct Uses {
    NodeQueryClient& queries;
    TransactionNumbers& numbers;
    Decisions& decisions;
    SnapshotDesk& snapshots;
  };
  struct World {
    /// \error naming the transaction or operation that runs
    std::function<Status()> check_idle;
    /// The job has a row again; its step is that of its devices.
    std::function<void(Job& job)> restored;
    /// Nothing is left that a rebuild could restore.
    std::function<void()> completed = {};
    /// The journal says that the job is over, as JobTable::EndUnknown.
    std::function<void(const std::string& job)> destroyed = {};
  };
  TableRebuilder(const Common& common, JobTable& jobs, const Uses& uses, World world)
      : RegistrarPart(common), jobs_(jobs), uses_(uses), around_(std::move(world)) {}

  /// Asks all nodes that are alive, and restores the jobs that the table does not explain.
  void OnRebuild(const ReplyPtr& reply);
  /// Ends a job that JobTable::CheckStoppable refuses, if no rebuild can restore it. Without
  /// `destroys` the reply is an error that says why, and what nodes hold.
  void OnStop(const std::string& name, bool destroys, const ReplyPtr& reply);

 private:
  /// What nodes hold of a job that the table does not explain.
  struct HeldState {
    std::string text;       // "12.0 MiB on n0 (epoch 4, step 41), …"
    std::int64_t step = 0;  // the highest
  };
  /// What the nodes have answered.
  struct Told;
  /// One rebuild.
  struct Run;
  void AskHeld(std::function<void(NodeQueryClient::Answers answers)> then);
  Told Read(const NodeQueryClient::Answers& answers) const;
  struct Restorable {
    std::string name;
    JobTableRow row;
    std::map<std::int64_t, std::int64_t> to_abort;  // as ChangesToAbort
  };
  void OnAnswers(const NodeQueryClient::Answers& answers, const ReplyPtr& reply);
  /// \error as RowFromNodes and ChangesToAbort; kUnavailable if its nodes have not answered; kDataLoss
  ///     if none of their rows can be read
  Result<Restorable> RestorableFrom(const std::string& name, const Told& told);
  /// Whether decisions are kept elsewhere than in the registrar's journal.
  bool OutlivesJournal() const;
  void StopWith(const std::string& name, bool destroys, const Told& told, const ReplyPtr& reply);
  /// \pre its changes are decided
  void Destroy(const std::string& name, const HeldState& held, const ReplyPtr& reply);
  HeldState HeldStateOf(const std::string& name) const;
  using Decided = std::function<void(Result<std::vector<engine::Decision>>)>;
  /// Writes the decisions of a job, by slot. Stops at the first error. `then` gets those that the
  /// register holds, after those in `known`.
  void Decide(const std::string& job, std::map<std::int64_t, engine::Decision> decisions,
              Decided then, std::vector<engine::Decision> known = {});
  /// One job after the other. Decides its changes first: its next slot follows theirs.
  void RestoreNext(const std::shared_ptr<Run>& run);
  void RestoreDecided(const std::shared_ptr<Run>& run, const std::shared_ptr<Restorable>& job,
                      const std::vector<engine::Decision>& decisions);
  Status Restore(const std::string& name, JobTableRow row);
  /// The registrar has lost the row of the job's newest snapshot too.
  void AdoptSnapshot(const Job& job, const Run& run);
  void Finish(const Run& run);

  JobTable& jobs_;
  const Uses uses_;
  const World around_;
};

}  // namespace tessera::agents
