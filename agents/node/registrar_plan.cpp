// SPDX-License-Identifier: Apache-2.0
// From a set of devices to a plan and what it will cost.
#include <fmt/format.h>

#include <algorithm>

#include "agents/node/registrar.h"
#include "engine/search/choice.h"
#include "engine/search/estimate.h"
#include "engine/store/allocate.h"
#include "ptc/base/overloaded.h"

namespace tessera::agents {
namespace {

std::string MiB(std::int64_t bytes) {
  return fmt::format("{:.0f} MiB", static_cast<double>(bytes) / (1 << 20));
}

// Bytes by pair of devices.
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

}  // namespace

ptc::Topology Registrar::TopologyNow() const {
  ptc::Topology topology = TopologyOf(AllPeers());
  if (config_.link_bytes_per_second > 0) {
    topology.network_bytes_per_second = static_cast<double>(config_.link_bytes_per_second);
  }
  return topology;
}

Result<Registrar::Planned> Registrar::MakePlanFor(const Job& job,
                                                  const wire::PlanRequest& request) const {
  if (job.state == engine::JobState::kFailed) {
    return FailedPrecondition(fmt::format("job '{}' failed: {}", job.name, job.reason));
  }
  if (job.state == engine::JobState::kStarting) {
    return FailedPrecondition(fmt::format("job '{}' is still starting", job.name));
  }
  std::vector<ptc::DeviceId> devices;
  for (const wire::Device& device : request.devices()) {
    TESSERA_TRY(const ptc::DeviceId id, Decode(device));
    TESSERA_RETURN_IF_ERROR(CheckDevice(id, job.name));
    if (std::find(devices.begin(), devices.end(), id) != devices.end()) {
      return InvalidArgument(fmt::format("device {} is given twice", ToString(id)));
    }
    devices.push_back(id);
  }
  if (devices.empty()) {
    return InvalidArgument(
        fmt::format("no devices are given: job '{}' needs at least 1", job.name));
  }

  engine::PlanSummary summary;
  ptc::MeshShape shape;
  const std::vector<ptc::DeviceId>& in_job = job.layout.mesh().devices();
  if (request.has_mesh()) {
    TESSERA_TRY(shape, Decode(request.mesh()));
    // Names both numbers where they differ.
    TESSERA_TRY(const ptc::DeviceMesh fits, ptc::DeviceMesh::Make(shape, devices));
    static_cast<void>(fits);
    TESSERA_RETURN_IF_ERROR(engine::CheckMesh(job.settings, shape));
  } else {
    TESSERA_TRY(engine::Choice choice,
                engine::ChooseMesh(job.layout.mesh().shape(), job.settings.global_batch, devices,
                                   in_job, [&](const ptc::MeshShape& candidate) {
                                     return engine::CheckMesh(job.settings, candidate);
                                   }));
    shape = choice.mesh;
    devices = choice.used;
    summary.idle = choice.idle;
    summary.why = choice.why;
  }
  const ptc::Topology topology = TopologyNow();
  std::optional<ptc::DeviceMesh> mesh;
  if (request.pin()) {
    TESSERA_TRY(mesh, ptc::DeviceMesh::Make(shape, devices));
  } else {
    std::sort(devices.begin(), devices.end());
    TESSERA_TRY(mesh, ptc::Place(job.layout, shape, devices, topology));
  }
  TESSERA_TRY(ptc::Layout to, ptc::Layout::Make(*mesh, job.layout.collection_ptr()));
  TESSERA_TRY(ptc::Plan plan, ptc::MakePlan(job.layout, to, topology));
  if (to == job.layout) {
    return FailedPrecondition(
        fmt::format("job '{}' already runs {}", job.name, ToString(job.layout.mesh())));
  }
  for (const auto& [device, bytes] : plan.peak_memory) {
    const wire::NodeDevice* info = FindDevice(device);
    const std::int64_t capacity = info ? info->capacity() : 0;
    const std::int64_t needed = engine::BytesNeededDuringMove(job.layout, to, device, plan);
    if (needed > capacity) {
      return ResourceExhausted(fmt::format("device {} needs {} during the move, it has {}",
                                           ToString(device), MiB(needed), MiB(capacity)));
    }
    summary.peak_memory.push_back({device, needed, capacity});
  }
  summary.job = job.name;
  summary.epoch = job.epoch;
  summary.from_layout_hash = ptc::Hex16(job.layout.hash());
  summary.from_mesh = job.layout.mesh().shape();
  summary.to_mesh = shape;
  summary.from_devices = in_job;
  summary.to_devices = mesh->devices();
  summary.hash = ptc::Hex16(plan.hash);
  summary.kept = plan.bytes.kept;
  summary.device = plan.bytes.device;
  summary.host = plan.bytes.host;
  summary.network = plan.bytes.network;
  summary.snapshot = plan.bytes.snapshot;
  summary.storage = plan.bytes.storage;
  summary.volume_bound = plan.volume_bound;
  summary.busiest_port_bytes = plan.busiest_port_bytes;
  summary.busiest_port_bound = plan.busiest_port_bound;
  summary.single_source = plan.single_source_pieces;
  summary.pause_estimate = engine::EstimatePause(plan, job.layout, to, topology);
  summary.flows = FlowsOf(plan, job.layout.collection());
  summary.global_batch = job.settings.global_batch;
  return Planned{std::move(to), std::move(plan), std::move(summary)};
}

}  // namespace tessera::agents
