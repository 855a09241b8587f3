// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Requests for plans and proposals. A worker computes them.

#include <functional>
#include <string>
#include <vector>

#include "agents/registrar/inquiries.h"
#include "agents/registrar/job_table.h"
#include "agents/registrar/link_survey.h"
#include "agents/registrar/pending_reply.h"
#include "agents/registrar/planner.h"
#include "agents/registrar/registrar_part.h"

namespace tessera::agents {

class PlanDesk : public RegistrarPart {
 public:
  PlanDesk(const Common& common, JobTable& jobs, const LinkSurvey& links,
           const Inquiries& inquiries)
      : RegistrarPart(common), jobs_(jobs), links_(links), inquiries_(inquiries) {}

  void OnPlan(const wire::PlanRequest& request, const ReplyPtr& reply);
  void OnPropose(const wire::ProposeRequest& request, const ReplyPtr& reply);
  /// Plans on the worker what the request asks for.
  void Compute(const Job& job, const wire::PlanRequest& request,
               std::function<void(Result<Planned>)> then);
  /// Whether the state that is handed in may replace that of the job now.
  /// \error kInvalidArgument, kFailedPrecondition naming what does not fit
  Status CheckHandIn(const Job& job, const wire::HandInRequest& request) const;
  /// The same for state of any origin, after which the job continues from `step`.
  Status CheckReplace(const Job& job, std::int64_t step) const;
  /// Plans on the worker to replace the whole state of the job.
  void ComputeHandIn(const Job& job, std::function<void(Result<Planned>)> then);
  /// All that plans for the job depend on now.
  PlanBasis BasisOf(const Job& job) const;
  /// The input of the search for configurations of a job on `devices`.
  engine::SearchInput SearchInputOf(const std::string& name, const engine::JobSettings& settings,
                                    std::vector<ptc::DeviceId> devices) const;
  /// \error naming a device that does not exist, is not usable, or occurs twice
  Result<std::vector<ptc::DeviceId>> UsableDevices(
      const google::protobuf::RepeatedPtrField<wire::Device>& devices,
      const std::string& job) const;
  ptc::Topology TopologyNow() const { return links_.TopologyNow(); }

 private:
  static Status CheckCanMove(const Job& job);
  engine::SearchInput SearchInputOf(const Job& job, std::vector<ptc::DeviceId> devices) const;

  JobTable& jobs_;
  const LinkSurvey& links_;
  const Inquiries& inquiries_;
};

}  // namespace tessera::agents
