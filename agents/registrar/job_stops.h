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

  /// Ends the ranks of the job on one node; with `forget` frees its state too.
  void Send(std::int32_t node, const std::string& job, bool forget) const;
  /// The same on all nodes.
  void Stop(const std::string& name, bool forget);
  /// Tells the node again of jobs that are over, which it has by its own account.
  void Resend(std::int32_t node,
              const google::protobuf::RepeatedPtrField<wire::NodeJob>& jobs) const;

 private:
  JobTable& jobs_;
  Rendezvous& rendezvous_;
};

}  // namespace tessera::agents
