// SPDX-License-Identifier: Apache-2.0
// Makes plans with their costs, and proposes configurations.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "agents/registrar/pending_reply.h"
#include "agents/registrar/registrar.h"
#include "engine/copy/checksum.h"
#include "engine/model/job_layout.h"
#include "engine/search/estimate.h"
#include "engine/search/fit.h"
#include "engine/store/allocate.h"
#include "ptc/base/overloaded.h"
#include "ptc/certificate/certificate.h"
#include "ptc/schedule/relay_plan.h"

namespace tessera::agents {
namespace {

// Bytes between each pair of devices.
std::vector<engine::FlowStatus> FlowsOf(const ptc::Plan& plan, const ptc::Collection& tensors) {
  std::map<std::pair<ptc::DeviceId, ptc::DeviceId>, std::int64_t> bytes;
  for (const ptc::Move& move : plan.moves) {
    if (const auto* copy = std::get_if<ptc::RemoteCopy>(&move)) {
      const auto& spec = tensors.tensors()[static_cast<std::size_t>(copy->tensor)];
      bytes[{copy->source, copy->device}] += copy->cell.num_elements() * ptc::SizeBytes(spec.dtype);
    }
  }
  std::vector<engine::FlowStatus> out;
  for (const auto& [ends, total] : bytes) out.push_back({ends.first, ends.second, 0, total, 0});
  return out;
}

/// A plan is valid for one epoch and one set of options, so its hash covers these too.
std::string HashOf(const ptc::Plan& plan, std::int64_t epoch, const engine::StepOptions& options) {
  const std::string text =
      fmt::format("{} {} {} {}", ptc::Hex16(plan.hash), epoch, options.zero, options.micro_batch);
  return ptc::Hex16(engine::Checksum(std::as_bytes(std::span(text))));
}

}  // namespace

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

void Registrar::OnPropose(const wire::ProposeRequest& request, const ReplyPtr& reply) const {
  const auto job = jobs_.find(request.job());
  if (job == jobs_.end()) {
    return reply->Fail(NotFound(fmt::format("job '{}' does not exist", request.job())));
  }
  if (const Status can = CheckCanMove(job->second); !can) return reply->Fail(can.error());
  const auto devices = UsableDevices(request.devices(), request.job());
  if (!devices) return reply->Fail(devices.error());
  const std::int64_t limit = request.limit() > 0 ? request.limit() : engine::kMaxProposed;
  const auto proposal = engine::Propose(SearchInputOf(job->second, *devices), limit);
  if (!proposal) return reply->Fail(proposal.error());
  wire::Reply out;
  Encode(*proposal, out.mutable_propose());
  reply->Done(std::move(out));
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

Result<Registrar::Target> Registrar::ChooseTarget(const Job& job, const wire::PlanRequest& request,
                                                  std::vector<ptc::DeviceId> devices,
                                                  const std::vector<ptc::DeviceId>& lost) const {
  std::optional<engine::StepOptions> asked;
  if (request.has_options()) {
    TESSERA_TRY(asked, Decode(request.options()));
  }
  // The present options. A micro-batch that is larger than the new share is left to the trainer.
  const engine::StepOptions as_now = asked.value_or(job.options);
  const engine::StepOptions relaxed{as_now.zero, 0};
  const bool may_relax = !asked && as_now.micro_batch != 0;
  if (request.has_mesh()) {
    TESSERA_TRY(const ptc::MeshShape shape, Decode(request.mesh()));
    // Its error names both numbers if they differ.
    TESSERA_RETURN_IF_ERROR(ptc::DeviceMesh::Make(shape, devices));
    const Status can = engine::CheckMesh(job.settings, shape, as_now);
    if (can) return Target{shape, as_now, std::move(devices), {}, {}};
    if (!may_relax || !engine::CheckMesh(job.settings, shape, relaxed)) return can.error();
    return Target{shape,
                  relaxed,
                  std::move(devices),
                  {},
                  fmt::format("micro-batch {} is larger than a rank's share with {}: the trainer "
                              "chooses",
                              as_now.micro_batch, ToString(shape))};
  }
  engine::SearchInput input = SearchInputOf(job, std::move(devices));
  input.lost = lost;
  auto choice = engine::ChooseMesh(input, as_now);
  if (!choice && may_relax) choice = engine::ChooseMesh(input, relaxed);
  if (!choice) return choice.error();
  return Target{choice->mesh, choice->options, std::move(choice->used), std::move(choice->idle),
                std::move(choice->why)};
}

Result<Registrar::Planned> Registrar::MakePlanFor(const Job& job,
                                                  const wire::PlanRequest& request) const {
  TESSERA_RETURN_IF_ERROR(CheckCanMove(job));
  TESSERA_TRY(std::vector<ptc::DeviceId> devices, UsableDevices(request.devices(), job.name));
  if (devices.empty()) {
    return InvalidArgument(
        fmt::format("no devices are given: job '{}' needs at least 1", job.name));
  }
  return MakePlanOn(job, request, std::move(devices), {});
}

Result<Registrar::Planned> Registrar::MakePlanOn(const Job& job, const wire::PlanRequest& request,
                                                 std::vector<ptc::DeviceId> devices,
                                                 const std::vector<ptc::DeviceId>& lost) const {
  TESSERA_TRY(Target target, ChooseTarget(job, request, std::move(devices), lost));
  TESSERA_TRY(const ptc::RuledTensors tensors,
              engine::TensorsOf(job.settings, target.options.zero));
  const ptc::Topology topology = TopologyNow();
  std::optional<ptc::DeviceMesh> mesh;
  if (request.pin()) {
    TESSERA_TRY(mesh, ptc::DeviceMesh::Make(target.shape, target.devices));
  } else {
    std::sort(target.devices.begin(), target.devices.end());
    TESSERA_TRY(const auto stages, engine::StagesOn(tensors.stages, target.shape));
    TESSERA_TRY(mesh, ptc::Place(job.layout, target.shape, tensors.tensors, target.devices,
                                 topology, stages, lost));
  }
  TESSERA_TRY(ptc::Layout to, engine::MakeLayout(tensors, *mesh));
  TESSERA_TRY(ptc::Plan plan, ptc::MakePlan(job.layout, to, topology, {.lost = lost}));
  const std::uint64_t direct_hash = plan.hash;
  const std::int64_t network_direct = plan.bytes.network;
  if (!request.no_relay() && lost.empty()) {
    plan = ptc::RelayPlan(plan, job.layout, to, topology);
  }
  if (to == job.layout && target.options == job.options && lost.empty()) {
    const std::string options = ToString(job.options);
    return FailedPrecondition(fmt::format("job '{}' already runs {}{}", job.name,
                                          ToString(job.layout.mesh()),
                                          options.empty() ? "" : ", " + options));
  }
  engine::PlanSummary summary;
  for (const auto& [device, bytes] : plan.peak_memory) {
    const bool is_lost = std::find(lost.begin(), lost.end(), device) != lost.end();
    if (is_lost && !mesh->RankOf(device)) continue;
    const wire::NodeDevice* info = members_.FindDevice(device);
    const std::int64_t capacity = info ? info->capacity() : 0;
    const std::int64_t needed =
        engine::BytesNeededDuringMove(job.layout, to, device, plan, is_lost);
    if (needed > capacity) {
      return ResourceExhausted(fmt::format("device {} needs {} during the move, it has {}",
                                           ToString(device), engine::BytesText(needed),
                                           engine::BytesText(capacity)));
    }
    summary.peak_memory.push_back({device, needed, capacity});
  }
  summary.job = job.name;
  summary.epoch = job.epoch;
  summary.from_layout_hash = ptc::Hex16(job.layout.hash());
  summary.from_mesh = job.layout.mesh().shape();
  summary.to_mesh = target.shape;
  summary.from_devices = job.layout.mesh().devices();
  summary.to_devices = mesh->devices();
  summary.from_options = job.options;
  summary.to_options = target.options;
  summary.hash = HashOf(plan, job.epoch, target.options);
  summary.idle = std::move(target.idle);
  summary.why = std::move(target.why);
  summary.kept = plan.bytes.kept;
  summary.device = plan.bytes.device;
  summary.host = plan.bytes.host;
  summary.network = plan.bytes.network;
  summary.relayed = plan.hash != direct_hash;
  summary.network_direct = network_direct;
  summary.snapshot = plan.bytes.snapshot;
  summary.storage = plan.bytes.storage;
  const ptc::Certificate certificate =
      ptc::Certify(job.layout, to, topology, lost, plan.port_prices);
  summary.volume_bound = certificate.volume;
  summary.certificate = engine::Summarize(certificate, topology);
  summary.certificate.port = plan.busiest_port;
  summary.certificate.port_bytes = plan.busiest_port_bytes;
  summary.certificate.port_seconds = plan.transfer_seconds;
  summary.single_source = plan.single_source_pieces;
  summary.pause_estimate = engine::EstimatePause(plan, job.layout, to, topology);
  summary.flows = FlowsOf(plan, job.layout.collection());
  summary.global_batch = engine::GlobalBatchOn(job.settings, mesh->shape());
  const engine::SearchInput input = SearchInputOf(job, mesh->devices());
  summary.from_step_seconds = engine::EstimateStepSeconds(input, job.layout.mesh(), job.options);
  summary.to_step_seconds = engine::EstimateStepSeconds(input, *mesh, target.options);
  return Planned{std::move(to), std::move(plan), std::move(summary),
                 ptc::ToJson(ClusterOf(topology, false))};
}

}  // namespace tessera::agents
