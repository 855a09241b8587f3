// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Jobs that nodes hold and the table of the registrar does not explain.

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "engine/cluster/snapshot.h"
#include "ptc/mesh.h"

namespace tessera::agents {

/// A node may hold the only copy of such a job: the registrar's journal was lost, or an earlier
/// copy of it was put back. Nothing is freed or started in its place until the table is rebuilt.
class UnknownJobs {
 public:
  struct Held {
    std::int64_t epoch = 0;    // the latest of the devices
    std::uint64_t origin = 0;  // JobRow::origin; 0: an agent of an earlier version
    std::vector<ptc::DeviceId> devices = {};
    friend bool operator==(const Held&, const Held&) = default;
  };
  using ByJob = std::map<std::string, Held>;

  /// Replaces what the node holds of such jobs.
  /// \return the jobs of which it holds something else than before
  std::set<std::string> Note(std::int32_t node, const ByJob& held);
  bool empty() const { return jobs_.empty(); }
  bool Contains(const std::string& job) const { return jobs_.contains(job); }
  std::vector<std::string> names() const;
  /// The nodes that hold something of it, with what they hold.
  const std::map<std::int32_t, Held>& HoldersOf(const std::string& job) const;
  /// "n0, n1 hold job 'a' (epoch 4) that this registrar does not know: …", with the remedy.
  /// `known_epoch`: of a job whose row is older; 0: there is no row.
  std::string TextOf(const std::string& job, std::int64_t known_epoch) const;
  /// "n2 holds another job 'a' (epoch 4) than this registrar: …", with the remedy.
  /// \pre the node holds it
  std::string OtherTextOf(const std::string& job, std::int32_t node) const;
  /// As a client sees the job.
  engine::JobStatus RowOf(const std::string& job) const;

 private:
  std::map<std::string, std::map<std::int32_t, Held>> jobs_;
};

}  // namespace tessera::agents
