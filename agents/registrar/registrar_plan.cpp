// SPDX-License-Identifier: Apache-2.0
// Requests for plans and proposals. A worker computes them.
#include <fmt/format.h>

#include <set>

#include "agents/registrar/pending_reply.h"
#include "agents/registrar/registrar.h"

namespace tessera::agents {
engine::SearchInput Registrar::SearchInputOf(const std::string& name,
                                             const engine::JobSettings& settings,
                                             std::vector<ptc::DeviceId> devices) const {
  engine::SearchInput input;
  input.job = name;
  input.settings = settings;
  input.devices = std::move(devices);
  std::map<std::string, std::int32_t> machines;
  for (const auto& [number, node] : members_.nodes()) {
    const auto next = static_cast<std::int32_t>(machines.size());
    input.machines.machine_of_node[number] = machines.emplace(node.machine, next).first->second;
    for (const wire::NodeDevice& device : node.devices) {
      input.capacities[{number, device.index()}] = device.capacity();
    }
  }
  input.machines.topology = TopologyNow();
  input.calibration = calibration_;
  return input;
}

engine::SearchInput Registrar::SearchInputOf(const Job& job,
                                             std::vector<ptc::DeviceId> devices) const {
  engine::SearchInput input = SearchInputOf(job.name, job.settings, std::move(devices));
  input.layout = job.layout;
  input.options = job.options;
  input.step_seconds = MedianStepSeconds(job);
  return input;
}

Result<std::vector<ptc::DeviceId>> Registrar::UsableDevices(
    const google::protobuf::RepeatedPtrField<wire::Device>& devices, const std::string& job) const {
  std::vector<ptc::DeviceId> out;
  std::set<ptc::DeviceId> seen;
  for (const wire::Device& device : devices) {
    TESSERA_TRY(const ptc::DeviceId id, Decode(device));
    TESSERA_RETURN_IF_ERROR(CheckDevice(id, job));
    if (!seen.insert(id).second) {
      return InvalidArgument(fmt::format("device {} is given twice", ToString(id)));
    }
    out.push_back(id);
  }
  return out;
}

void Registrar::OnPropose(const wire::ProposeRequest& request, const ReplyPtr& reply) {
  const auto job = jobs_.find(request.job());
  if (job == jobs_.end()) {
    return reply->Fail(NotFound(fmt::format("job '{}' does not exist", request.job())));
  }
  if (const Status can = CheckCanMove(job->second); !can) return reply->Fail(can.error());
  const auto devices = UsableDevices(request.devices(), request.job());
  if (!devices) return reply->Fail(devices.error());
  const std::int64_t limit = request.limit() > 0 ? request.limit() : engine::kMaxProposed;
  Compute([input = SearchInputOf(job->second, *devices),
           limit] { return engine::Propose(input, limit); },
          [reply](const Result<engine::Proposal>& proposal) {
            if (!proposal) return reply->Fail(proposal.error());
            wire::Reply out;
            Encode(*proposal, out.mutable_propose());
            reply->Done(std::move(out));
          });
}

Status Registrar::CheckCanMove(const Job& job) {
  if (job.state == engine::JobState::kFailed || job.state == engine::JobState::kSuspended) {
    return FailedPrecondition(
        fmt::format("job '{}' is {}: {}", job.name, ToString(job.state), job.reason));
  }
  if (job.state == engine::JobState::kStarting) {
    return FailedPrecondition(fmt::format("job '{}' is still starting", job.name));
  }
  return OkStatus();
}

PlanBasis Registrar::BasisOf(const Job& job) const {
  engine::SearchInput search = SearchInputOf(job, {});
  std::string cluster = ptc::ToJson(ClusterOf(search.machines.topology, false));
  return {std::move(search), job.epoch, std::move(cluster)};
}

void Registrar::ComputePlan(const Job& job, const wire::PlanRequest& request,
                            std::function<void(Result<Planned>)> then) {
  if (const Status can = CheckCanMove(job); !can) return then(can.error());
  auto devices = UsableDevices(request.devices(), job.name);
  if (!devices) return then(devices.error());
  if (devices->empty()) {
    return then(
        InvalidArgument(fmt::format("no devices are given: job '{}' needs at least 1", job.name)));
  }
  Compute([basis = BasisOf(job), devices = std::move(*devices),
           request] { return PlanChange(basis, request, devices, {}); },
          std::move(then));
}

void Registrar::OnPlan(const wire::PlanRequest& request, const ReplyPtr& reply) {
  const Result<Job*> job = NeedJob(request.job());
  if (!job) return reply->Fail(job.error());
  ComputePlan(**job, request, [reply](const Result<Planned>& planned) {
    if (!planned) return reply->Fail(planned.error());
    wire::Reply out;
    Encode(planned->summary, out.mutable_plan());
    reply->Done(std::move(out));
  });
}

}  // namespace tessera::agents
