// SPDX-License-Identifier: Apache-2.0
#include "agents/registrar/plan_desk.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "agents/registrar/compute.h"

namespace tessera::agents {

engine::SearchInput PlanDesk::SearchInputOf(const std::string& name,
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
  input.machines.topology = links_.TopologyNow();
  input.calibration = inquiries_.calibration();
  return input;
}

engine::SearchInput PlanDesk::SearchInputOf(const Job& job,
                                            std::vector<ptc::DeviceId> devices) const {
  engine::SearchInput input = SearchInputOf(job.name, job.settings, std::move(devices));
  input.layout = job.layout;
  input.options = job.options;
  input.step_seconds = MedianStepSeconds(job);
  input.is_paused =
      job.state == engine::JobState::kPaused || job.state == engine::JobState::kSuspended;
  input.on_gpus = std::ranges::any_of(members_.nodes(),
                                      [](const auto& entry) { return !entry.second.gpu.empty(); });
  return input;
}

Result<std::vector<ptc::DeviceId>> PlanDesk::UsableDevices(
    const google::protobuf::RepeatedPtrField<wire::Device>& devices, const std::string& job) const {
  std::vector<ptc::DeviceId> out;
  std::set<ptc::DeviceId> seen;
  for (const wire::Device& device : devices) {
    TESSERA_TRY(const ptc::DeviceId id, Decode(device));
    TESSERA_RETURN_IF_ERROR(jobs_.CheckDevice(id, job));
    if (!seen.insert(id).second) {
      return InvalidArgument(fmt::format("device {} is given twice", ToString(id)));
    }
    out.push_back(id);
  }
  return out;
}

void PlanDesk::OnPropose(const wire::ProposeRequest& request, const ReplyPtr& reply) {
  const Job* const job = jobs_.Find(request.job());
  if (!job) {
    return reply->Fail(NotFound(fmt::format("job '{}' does not exist", request.job())));
  }
  if (const Status can = CheckCanMove(*job); !can) return reply->Fail(can.error());
  const auto devices = UsableDevices(request.devices(), request.job());
  if (!devices) return reply->Fail(devices.error());
  const std::int64_t limit = request.limit() > 0 ? request.limit() : engine::kMaxProposed;
  ComputeWith(
      world_,
      [input = SearchInputOf(*job, *devices), limit] { return engine::Propose(input, limit); },
      [reply](const Result<engine::Proposal>& proposal) {
        if (!proposal) return reply->Fail(proposal.error());
        wire::Reply out;
        Encode(*proposal, out.mutable_propose());
        reply->Done(std::move(out));
      });
}

Status PlanDesk::CheckCanMove(const Job& job) {
  const bool is_suspended = job.state == engine::JobState::kSuspended;
  // Its ranks fail on its mesh, and may run on another one.
  const bool is_whole = !job.device_loss && !job.remains;
  if (is_suspended && !job.restarts && is_whole) return OkStatus();
  if (is_suspended || job.state == engine::JobState::kFailed) {
    return FailedPrecondition(
        fmt::format("job '{}' is {}: {}", job.name, ToString(job.state), job.reason));
  }
  if (job.state == engine::JobState::kStarting) {
    return FailedPrecondition(fmt::format("job '{}' is still starting", job.name));
  }
  return OkStatus();
}

PlanBasis PlanDesk::BasisOf(const Job& job) const {
  engine::SearchInput search = SearchInputOf(job, {});
  std::string cluster = ptc::ToJson(links_.ClusterOf(search.machines.topology, false));
  return {.job = std::move(search),
          .epoch = job.epoch,
          .cluster = std::move(cluster),
          .has_snapshots = job.snapshots.is_on(),
          .alive = members_.Alive(),
          .remains = job.remains};
}

void PlanDesk::Compute(const Job& job, const wire::PlanRequest& request,
                       std::function<void(Result<Planned>)> then) {
  if (const Status can = CheckCanMove(job); !can) return then(can.error());
  auto devices = UsableDevices(request.devices(), job.name);
  if (!devices) return then(devices.error());
  if (devices->empty()) {
    return then(
        InvalidArgument(fmt::format("no devices are given: job '{}' needs at least 1", job.name)));
  }
  ComputeWith(
      world_,
      [basis = BasisOf(job), devices = std::move(*devices), request] {
        return PlanChange(basis, request, devices, {});
      },
      std::move(then));
}

void PlanDesk::OnPlan(const wire::PlanRequest& request, const ReplyPtr& reply) {
  const Result<Job*> job = jobs_.Need(request.job());
  if (!job) return reply->Fail(job.error());
  Compute(**job, request, [reply](const Result<Planned>& planned) {
    if (!planned) return reply->Fail(planned.error());
    wire::Reply out;
    Encode(planned->summary, out.mutable_plan());
    reply->Done(std::move(out));
  });
}

Status PlanDesk::CheckHandIn(const Job& job, const wire::HandInRequest& request) const {
  if (request.step() < 0) {
    return InvalidArgument(fmt::format("step {} of a hand-in is negative", request.step()));
  }
  if (request.lanes().empty()) return InvalidArgument("a hand-in names no lanes");
  if (request.layout_hash() != job.layout.hash()) {
    return FailedPrecondition(fmt::format("the state is cut for layout {}, job '{}' has {} now",
                                          ptc::Hex16(request.layout_hash()), job.name,
                                          ptc::Hex16(job.layout.hash())));
  }
  return CheckReplace(job, request.step());
}

Status PlanDesk::CheckReplace(const Job& job, std::int64_t step) const {
  const bool stands = job.state == engine::JobState::kPaused && job.step == step;
  if (job.settings.program && !stands) {
    return FailedPrecondition(
        fmt::format("job '{}' runs a program that counts its steps itself, so it must be paused "
                    "after step {}, but it is {} after step {}",
                    job.name, step, ToString(job.state), job.step));
  }
  for (const ptc::DeviceId device : job.layout.mesh().devices()) {
    TESSERA_RETURN_IF_ERROR(jobs_.CheckDevice(device, job.name));
  }
  return OkStatus();
}

void PlanDesk::ComputeHandIn(const Job& job, std::function<void(Result<Planned>)> then) {
  ComputeWith(
      world_, [basis = BasisOf(job)] { return PlanHandIn(basis); }, std::move(then));
}

}  // namespace tessera::agents
