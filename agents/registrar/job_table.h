// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The jobs of the cluster, and their rows in the journal.

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>

#include "agents/registrar/job.h"
#include "agents/registrar/registrar_part.h"

namespace tessera::agents {

class JobTable : public RegistrarPart {
 public:
  /// Says why a job of this name is not in the table yet; kOk if there is no such job at all.
  using CheckMissing = std::function<Status(const std::string& name)>;
  JobTable(const Common& common, CheckMissing check_missing)
      : RegistrarPart(common), check_missing_(std::move(check_missing)) {}

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
  /// Writes that the job is over. Until it is erased from the table the job is as before.
  /// \error of the journal
  Status JournalEnd(const std::string& name);
  void Erase(const std::string& name);
  /// Whether this was the name of a job that is over, and of none since.
  bool HasEnded(const std::string& name) const { return ended_.contains(name); }

  /// Writes the row of the job, and together with it the rows of `others`: all of them or none.
  /// Reports an error as an event too.
  Status Journal(const Job& job, std::vector<engine::RowChange> others = {});
  /// Reads the rows. The nodes of the jobs are expected.
  /// \error those of the journal, and naming a row that cannot be read
  Status Recover();

  /// \error naming the device and why `job` cannot use it
  Status CheckDevice(ptc::DeviceId id, const std::string& job) const;

 private:
  void EraseLeftMarks();

  const CheckMissing check_missing_;
  std::map<std::string, Job> jobs_;
  /// Nodes that were away may hold the state of such a job.
  std::set<std::string> ended_;
  /// Jobs that the journal may still mark as ended although they go on.
  std::set<std::string> left_marks_;
};

}  // namespace tessera::agents
