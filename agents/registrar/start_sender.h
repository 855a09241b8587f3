// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The messages that start the ranks of jobs.

#include "agents/registrar/documents.h"
#include "agents/registrar/job_table.h"
#include "agents/registrar/registrar_part.h"

namespace tessera::agents {

class StartSender : public RegistrarPart {
 public:
  StartSender(const Common& common, JobTable& jobs, Documents& documents)
      : RegistrarPart(common), jobs_(jobs), documents_(documents) {}

  wire::ToNode MessageOf(const Job& job) const;
  /// Sends the message to the nodes of the job that are not ready.
  void Send(Job& job, wire::ToNode message);
  /// Sends it again where nothing is heard of it: the message or the answer may be lost.
  void Repeat(Clock::time_point now);

 private:
  JobTable& jobs_;
  Documents& documents_;
};

}  // namespace tessera::agents
