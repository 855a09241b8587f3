// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Ends the ranks of jobs, and frees the state of jobs that are over.

#include <cstdint>
#include <string>

#include "agents/registrar/job_table.h"
#include "agents/registrar/registrar_part.h"
#include "agents/registrar/rendezvous.h"

namespace tessera::agents {

class JobStops : public RegistrarPart {
 public:
  JobStops(const Common& common, JobTable& jobs, Rendezvous& rendezvous)
      : RegistrarPart(common), jobs_(jobs), rendezvous_(rendezvous) {}

  /// Which state of a name a message is about. A node that holds another one ignores the message.
  struct Extent {
    std::uint64_t origin = 0;      // 0: of any job of the name
    std::int64_t below_epoch = 0;  // 0: of any epoch
  };
  /// Ends the ranks of the job on one node and keeps its state.
  void EndRanks(std::int32_t node, const Job& job) const;
  /// Frees the state of a job, and ends its ranks.
  void Free(std::int32_t node, const std::string& job, const Extent& extent) const;
  /// Ends the ranks of the job on all nodes; with `forget` frees its state too.
  void Stop(const Job& job, bool forget);
  /// Tells the node again of jobs that are over, which it has by its own account.
  void Resend(std::int32_t node,
              const google::protobuf::RepeatedPtrField<wire::NodeJob>& jobs) const;

 private:
  void Send(std::int32_t node, const std::string& job, bool forget, const Extent& extent) const;

  JobTable& jobs_;
  Rendezvous& rendezvous_;
};

}  // namespace tessera::agents
