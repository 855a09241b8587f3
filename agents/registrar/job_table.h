// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The jobs of the cluster, and their rows in the journal.

#include <cstdint>
#include <functional>
#include <map>
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
  /// \pre no job of that name
  Job& Add(Job job);
  void Erase(const std::string& name) { jobs_.erase(name); }

  /// Writes the row of the job. Reports an error as an event too.
  Status Journal(const Job& job);
  void EraseRow(const std::string& name);
  /// Reads the rows. Their nodes are expected.
  /// \error those of the journal, and naming a row that cannot be read
  Status Recover();

  /// \error naming the device and why `job` cannot use it
  Status CheckDevice(ptc::DeviceId id, const std::string& job) const;

 private:
  const CheckMissing check_missing_;
  std::map<std::string, Job> jobs_;
};

}  // namespace tessera::agents
