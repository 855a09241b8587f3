// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Queries that the registrar sends to nodes (probe, doctor, log, mesh), and what it knows of
/// programs.

#include <functional>

#include "agents/net/key_owner.h"
#include "agents/registrar/job_table.h"
#include "agents/registrar/node_query_client.h"
#include "agents/registrar/pending_reply.h"
#include "agents/registrar/registrar_part.h"
#include "engine/search/propose.h"

namespace tessera::agents {

class Inquiries : public RegistrarPart {
 public:
  Inquiries(const Common& common, JobTable& jobs, NodeQueryClient& queries,
            std::function<Status()> check_free)
      : RegistrarPart(common),
        jobs_(jobs),
        node_queries_(queries),
        check_free_(std::move(check_free)) {}

  /// Measures the machines, or installs what was measured elsewhere.
  void OnProbe(const wire::ProbeRequest& request, const ReplyPtr& reply);
  void OnDoctor(const ReplyPtr& reply);
  void OnLog(const wire::LogRequest& request, const ReplyPtr& reply);
  void OnProgram(const std::string& name, const ReplyPtr& reply) const;
  /// Asks the program of a job whether it can run on a mesh: what it says when a change is
  /// prepared, without a change. That runs code on a node, so programs are asked only for
  /// operators.
  void OnCheckMesh(Role role, const wire::CheckMeshRequest& request, const ReplyPtr& reply);
  /// \error those of the journal
  Status Recover();
  /// What the last probe has measured, else what is assumed.
  const engine::Calibration& calibration() const;

 private:
  /// Whether the history can be written.
  engine::Check CheckHistory() const;
  /// Whether the job table is on disk, and explains what nodes hold.
  engine::Check CheckTable() const;
  Status Install(engine::Calibration calibration);

  JobTable& jobs_;
  NodeQueryClient& node_queries_;
  const std::function<Status()> check_free_;  // nothing runs that a probe would disturb
  engine::Calibration calibration_;
  std::vector<ReplyPtr> doctors_;  // of requests that wait for the same examination
};

}  // namespace tessera::agents
