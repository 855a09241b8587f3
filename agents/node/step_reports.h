// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The steps that the ranks of a node have reported, for the history of the registrar.

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "agents/job/rank_protocol.h"
#include "agents/job/rank_view.h"
#include "agents/node/held_jobs.h"
#include "agents/node/uplink.h"
#include "agents/wire/tessera/wire/node.pb.h"

namespace tessera::agents {

/// All ranks know each decision. The node of rank 0 reports it. The other nodes keep it too, in
/// case that node and the registrar are lost together.
/// \threadsafety The loop's thread.
class StepReports {
 public:
  /// How many steps of a job are kept for a registrar that is out of reach; 400 KB, and
  /// up to 4 MB with metrics.
  static constexpr std::size_t kMaxRecent = 4096;

  /// \pre both outlive this part
  StepReports(const HeldJobs& jobs, const Uplink& uplink) : jobs_(jobs), uplink_(uplink) {}

  /// Keeps the step, and reports it if it is that of rank 0. Ignores a job that is not listed.
  void OnDecided(const RankId& id, const RankDecision& decision);
  /// Sends the steps after `after` again: the registrar has not recorded them.
  void Repeat(const std::string& job, std::int64_t after) const;
  /// The same as an answer to its request, with the message that these are all.
  void Answer(const wire::RepeatSteps& request) const;
  /// Drops the steps of the job: it has ended, or continues from an earlier step.
  void Forget(const std::string& job) { recent_.erase(job); }

 private:
  const HeldJobs& jobs_;
  const Uplink& uplink_;
  std::map<std::string, std::map<std::int64_t, wire::StepReport>> recent_;  // by job and step
};

}  // namespace tessera::agents
