// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The jobs of the cluster, and their rows in the journal.

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "agents/node/job_row.h"
#include "agents/registrar/job.h"
#include "agents/registrar/registrar_part.h"
#include "agents/registrar/unknown_jobs.h"

namespace tessera::agents {

class JobTable : public RegistrarPart {
 public:
  /// Says why a job of this name is not in the table yet; kOk if there is no such job at all.
  using CheckMissing = std::function<Status(const std::string& name)>;
  /// Whether a transaction changes the job: then its nodes hold more than the row says.
  using IsChanging = std::function<bool(const std::string& name)>;
  JobTable(const Common& common, CheckMissing check_missing, IsChanging is_changing = {})
      : RegistrarPart(common),
        check_missing_(std::move(check_missing)),
        is_changing_(std::move(is_changing)) {}

  auto begin() { return jobs_.begin(); }
  auto end() { return jobs_.end(); }
  auto begin() const { return jobs_.begin(); }
  auto end() const { return jobs_.end(); }
  /// nullptr if there is none.
  Job* Find(const std::string& name);
  const Job* Find(const std::string& name) const;
  /// \error kNotFound with the jobs that there are
  Result<Job*> Need(const std::string& name);
  /// Writes the row of a new job, and adds it.
  /// \error of the journal: there is no such job
  /// \pre no job of that name
  Result<Job*> Add(Job job);
  /// Writes a row that was rebuilt from nodes, instead of an older row of the same job, of which it
  /// keeps what users have chosen.
  /// \error of the journal; kAlreadyExists if there is another job of this name
  Result<Job*> Restore(const std::string& name, JobTableRow row);
  /// The jobs whose rows were set aside and that no node has reported. Their nodes may be off.
  std::vector<std::string> SetAsideJobs() const;
  bool IsSetAside(const std::string& name) const;
  /// Forgets the row of the job that was set aside, if there is one.
  /// \error of the journal
  Status ForgetSetAside(const std::string& name);
  /// Writes that the job is over. Until it is erased from the table the job is as before.
  /// \error of the journal
  Status JournalEnd(const std::string& name);
  void Erase(const std::string& name);
  /// Writes that the jobs of this name that only nodes know are over, and the one of the table with
  /// them. That one is erased apart.
  /// \error of the journal
  Status EndUnknown(const std::string& name);
  /// Whether a job of this name and origin (JobRow::origin) is over.
  bool HasEnded(const std::string& name, std::uint64_t origin) const;
  /// The origins of the last jobs of this name that are over, ascending.
  std::set<std::uint64_t> EndedOf(const std::string& name) const;

  /// What the table says about the state that a node reports for a device.
  enum class Claim : std::uint8_t {
    kKnown,    // it is part of the job, or a transaction changes the job
    kStale,    // the job is over, or has continued at a later epoch without the node
    kUnknown,  // the table does not explain it: it may be the only copy
  };
  /// \pre the device holds state
  Claim ClaimOf(const Membership::Node& node, const wire::NodeDevice& device) const;
  /// Compares what the node reports with the table. Reports what is new and unknown as events.
  void NoteHeld(const Membership::Node& node);
  /// The node was given up: what it held counts as lost.
  void ForgetHeld(std::int32_t node) { unknown_.Note(node, {}); }
  const UnknownJobs& unknown() const { return unknown_; }
  /// Whether the table explains all that nodes hold of jobs of this name.
  bool IsExplained(const std::string& name) const;
  /// Whether the table says what became of the job of this name and origin. 0: an unknown origin.
  bool IsExplained(const std::string& name, std::uint64_t origin) const;
  /// Whether it explains what this node says about a job of this name.
  bool IsExplainedOn(std::int32_t node, const std::string& name) const;
  /// Another job of this name on nodes that this one does not use is no error: see CheckNode.
  /// \error kFailedPrecondition naming the nodes that hold a job of this name which the table does
  ///     not explain, or its row that cannot be read
  Status CheckExplained(const std::string& name) const;
  /// Whether the end of the job frees only state that its row explains. Nodes keep that of another
  /// job of this name.
  /// \error kFailedPrecondition naming the nodes that hold a later epoch of the job than its row, or
  ///     a job that has no row
  Status CheckStoppable(const std::string& name) const;
  /// \error kFailedPrecondition if the node holds another job of this name: a node keeps the state
  ///     of one job under a name
  Status CheckNode(std::int32_t node, const std::string& name) const;

  /// Writes the row of the job, and together with it the rows of `others`: all of them or none.
  /// Reports an error as an event too.
  Status Journal(const Job& job, std::vector<engine::RowChange> others = {});
  /// Reads the rows. The nodes of the jobs are expected. A row that cannot be read is set aside:
  /// its job is then one that nodes hold and the table does not explain.
  /// \error those of the journal
  Status Recover();

  /// \error naming the device and why `job` cannot use it
  Status CheckDevice(ptc::DeviceId id, const std::string& job) const;

 private:
  void EraseLeftMarks();
  /// Whether the row of the job may be older than what nodes hold of it, or missing.
  bool IsInDoubt(const std::string& name) const;
  /// \error if the row cannot be read
  Status RecoverRow(const std::string& key, const std::string& text);
  void Insert(const std::string& name, engine::JobSettings settings, JobTableRow row);

  const CheckMissing check_missing_;
  const IsChanging is_changing_;
  std::map<std::string, Job> jobs_;
  /// The origins of jobs that are over, by name. Nodes that were away may hold their state.
  std::map<std::string, std::set<std::uint64_t>> ended_;
  std::set<std::string> unreadable_;  // names of jobs whose rows were set aside
  UnknownJobs unknown_;
  /// Jobs that the journal may still mark as ended although they go on.
  std::set<std::string> left_marks_;
};

}  // namespace tessera::agents
