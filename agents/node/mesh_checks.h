// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Requests of the registrar whether the program of a job can run on a mesh: rank 0 answers them.

#include <cstdint>
#include <map>

#include "agents/job/rank_links.h"
#include "agents/node/held_jobs.h"
#include "agents/node/node_links.h"
#include "agents/node/uplink.h"
#include "agents/wire/messages_fwd.h"

namespace tessera::agents {

/// \threadsafety The loop's thread.
class MeshChecks {
 public:
  MeshChecks(const NodeLinks& links, const HeldJobs& jobs, const Uplink& uplink)
      : links_(links), jobs_(jobs), uplink_(uplink) {}

  /// Answers once the rank has answered or ended, or a newer request for the job has arrived.
  void OnQuery(const wire::NodeQuery& query);
  /// As those of RankLinks::Handlers.
  void OnChecked(const RankId& rank, std::uint64_t check, const Status& status);
  void OnGone(const RankId& rank);

 private:
  struct Waiting {
    std::uint64_t check = 0;
    std::uint64_t ticket = 0;  // of the query
  };
  Status Send(const wire::NodeQuery& query);
  void Answer(std::uint64_t ticket, const Status& status) const;

  const NodeLinks& links_;
  const HeldJobs& jobs_;
  const Uplink& uplink_;
  std::map<RankId, Waiting> waiting_;
  std::uint64_t last_check_ = 0;
};

}  // namespace tessera::agents
