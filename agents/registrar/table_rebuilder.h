// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Restores rows of the job table from what nodes hold, after the registrar's journal was lost.

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>

#include "agents/node/job_row.h"
#include "agents/registrar/decisions.h"
#include "agents/registrar/job_table.h"
#include "agents/registrar/node_query_client.h"
#include "agents/registrar/pending_reply.h"
#include "agents/registrar/registrar_part.h"
#include "agents/registrar/snapshot_desk.h"
#include "agents/registrar/transaction_numbers.h"

namespace tessera::agents {

/// The row of a job from the rows of the nodes that hold it: the layout of the latest epoch counts.
/// \param rows by node; not empty
/// \param outlives_journal whether decisions are kept elsewhere than in the registrar's journal
/// \error kFailedPrecondition naming a node of the job that is not there, unless it was given up; or
///     a node that takes part in a transaction whose decision was in the journal
Result<JobTableRow> RowFromNodes(const std::string& job, const std::map<std::int32_t, JobRow>& rows,
                                 const Membership& members, bool outlives_journal);

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
  };
  TableRebuilder(const Common& common, JobTable& jobs, const Uses& uses, World world)
      : RegistrarPart(common), jobs_(jobs), uses_(uses), around_(std::move(world)) {}

  /// Asks all nodes that are alive, and restores the jobs that the table does not explain.
  void OnRebuild(const ReplyPtr& reply);

 private:
  /// The answers of the nodes to one request.
  struct Run;
  void OnAnswers(const NodeQueryClient::Answers& answers, const ReplyPtr& reply);
  /// The slots of its decisions come first, one job after the other.
  void RestoreNext(const std::shared_ptr<Run>& run);
  Status Restore(const std::string& name, JobTableRow row);
  /// The registrar has lost the row of the job's newest snapshot too.
  void AdoptSnapshot(const Job& job, const Run& run);
  void Finish(const Run& run);

  JobTable& jobs_;
  const Uses uses_;
  const World around_;
};

}  // namespace tessera::agents
