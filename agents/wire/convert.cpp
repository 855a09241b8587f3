// SPDX-License-Identifier: Apache-2.0
#include "agents/wire/convert.h"

#include <cmath>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "agents/wire/tessera/wire/history.pb.h"
#include "agents/wire/tessera/wire/plan.pb.h"
#include "agents/wire/tessera/wire/query.pb.h"
#include "agents/wire/tessera/wire/snapshot.pb.h"
#include "agents/wire/utf8.h"

namespace tessera::agents {
namespace {

constexpr std::int64_t kMaxDegree = 65536;  // as ptc::ParseMeshShape

template <typename Enum>
Result<Enum> DecodeEnum(std::string_view what, std::uint32_t value, Enum last) {
  if (value > static_cast<std::uint32_t>(last)) {
    return InvalidArgument(std::string(what) + " " + std::to_string(value) +
                           " is above the last known one, " +
                           std::to_string(static_cast<std::uint32_t>(last)));
  }
  return static_cast<Enum>(value);
}

template <typename Number>
Status NotNegative(std::string_view what, Number value) {
  if (value >= 0) return OkStatus();
  return InvalidArgument(std::string(what) + " " + std::to_string(value) + " is below 0");
}

Status Finite(std::string_view what, double value) {
  if (std::isfinite(value)) return OkStatus();
  return InvalidArgument(std::string(what) + " " + std::to_string(value) + " is not finite");
}

template <typename Repeated>
void EncodeAll(const std::vector<ptc::DeviceId>& devices, Repeated* out) {
  for (const ptc::DeviceId device : devices) Encode(device, out->Add());
}

template <typename Repeated>
Result<std::vector<ptc::DeviceId>> DecodeAll(const Repeated& in) {
  std::vector<ptc::DeviceId> devices;
  devices.reserve(static_cast<std::size_t>(in.size()));
  for (const wire::Device& device : in) {
    TESSERA_TRY(const ptc::DeviceId id, Decode(device));
    devices.push_back(id);
  }
  return devices;
}

void Encode(const engine::FlowStatus& flow, wire::FlowInfo* out) {
  agents::Encode(flow.source, out->mutable_source());
  agents::Encode(flow.destination, out->mutable_destination());
  out->set_bytes_done(flow.bytes_done);
  out->set_bytes_total(flow.bytes_total);
  out->set_bytes_per_second(flow.bytes_per_second);
}

Result<engine::FlowStatus> Decode(const wire::FlowInfo& in) {
  engine::FlowStatus flow;
  TESSERA_TRY(flow.source, agents::Decode(in.source()));
  TESSERA_TRY(flow.destination, agents::Decode(in.destination()));
  TESSERA_RETURN_IF_ERROR(NotNegative("flow.bytes_done", in.bytes_done()));
  TESSERA_RETURN_IF_ERROR(NotNegative("flow.bytes_total", in.bytes_total()));
  TESSERA_RETURN_IF_ERROR(Finite("flow.bytes_per_second", in.bytes_per_second()));
  flow.bytes_done = in.bytes_done();
  flow.bytes_total = in.bytes_total();
  flow.bytes_per_second = in.bytes_per_second();
  return flow;
}

template <typename Repeated>
void EncodeAll(const std::vector<engine::FlowStatus>& flows, Repeated* out) {
  for (const engine::FlowStatus& flow : flows) Encode(flow, out->Add());
}

Result<std::vector<engine::FlowStatus>> DecodeFlows(
    const google::protobuf::RepeatedPtrField<wire::FlowInfo>& in) {
  std::vector<engine::FlowStatus> flows;
  flows.reserve(static_cast<std::size_t>(in.size()));
  for (const wire::FlowInfo& info : in) {
    TESSERA_TRY(const engine::FlowStatus flow, Decode(info));
    flows.push_back(flow);
  }
  return flows;
}

/// \error also for a negative time
Result<double> DecodeSeconds(std::string_view what, double value) {
  TESSERA_RETURN_IF_ERROR(Finite(what, value));
  TESSERA_RETURN_IF_ERROR(NotNegative(what, value));
  return value;
}

void Encode(const engine::NodeStatus& node, wire::NodeInfo* out) {
  out->set_node(node.node);
  out->set_state(static_cast<std::uint32_t>(node.state));
  out->set_last_seen(node.last_seen);
  out->set_host(Utf8(node.host));
  out->set_address(Utf8(node.address));
  out->set_version(Utf8(node.version));
  out->set_view_bytes(node.view_bytes);
  for (const engine::DeviceStatus& device : node.devices) {
    wire::DeviceInfo* info = out->add_devices();
    agents::Encode(device.id, info->mutable_id());
    info->set_used_bytes(device.used_bytes);
    info->set_total_bytes(device.total_bytes);
    info->set_job(Utf8(device.job));
    if (device.rank) info->set_rank(*device.rank);
    info->set_joining(device.joining);
    info->set_failed(device.failed);
    info->set_pieces(device.pieces);
    info->set_parameter_bytes(device.parameter_bytes);
    info->set_optimizer_bytes(device.optimizer_bytes);
  }
}

Result<engine::DeviceStatus> Decode(const wire::DeviceInfo& in) {
  engine::DeviceStatus device;
  TESSERA_TRY(device.id, agents::Decode(in.id()));
  TESSERA_RETURN_IF_ERROR(NotNegative("device.used_bytes", in.used_bytes()));
  TESSERA_RETURN_IF_ERROR(NotNegative("device.total_bytes", in.total_bytes()));
  device.used_bytes = in.used_bytes();
  device.total_bytes = in.total_bytes();
  device.job = in.job();
  if (in.has_rank()) {
    TESSERA_RETURN_IF_ERROR(NotNegative("device.rank", in.rank()));
    device.rank = in.rank();
  }
  device.joining = in.joining();
  device.failed = in.failed();
  TESSERA_RETURN_IF_ERROR(NotNegative("device.pieces", in.pieces()));
  TESSERA_RETURN_IF_ERROR(NotNegative("device.parameter_bytes", in.parameter_bytes()));
  TESSERA_RETURN_IF_ERROR(NotNegative("device.optimizer_bytes", in.optimizer_bytes()));
  device.pieces = in.pieces();
  device.parameter_bytes = in.parameter_bytes();
  device.optimizer_bytes = in.optimizer_bytes();
  return device;
}

Result<engine::NodeStatus> Decode(const wire::NodeInfo& in) {
  engine::NodeStatus node;
  TESSERA_RETURN_IF_ERROR(NotNegative("node", in.node()));
  TESSERA_RETURN_IF_ERROR(Finite("node.last_seen", in.last_seen()));
  node.node = in.node();
  TESSERA_TRY(node.state, DecodeEnum("node state", in.state(), engine::NodeState::kLeft));
  node.last_seen = in.last_seen();
  node.host = in.host();
  node.address = in.address();
  node.version = in.version();
  TESSERA_RETURN_IF_ERROR(NotNegative("node.view_bytes", in.view_bytes()));
  node.view_bytes = in.view_bytes();
  for (const wire::DeviceInfo& info : in.devices()) {
    TESSERA_TRY(engine::DeviceStatus device, Decode(info));
    node.devices.push_back(std::move(device));
  }
  return node;
}

void Encode(const engine::DataStatus& data, wire::DataInfo* out) {
  for (const engine::DataStatus::Dataset& part : data.parts) {
    wire::DataPart* item = out->add_parts();
    item->set_name(Utf8(part.name));
    item->set_format(Utf8(part.format));
    item->set_num_samples(part.num_samples);
    item->set_weight(part.weight);
  }
  out->set_num_samples(data.num_samples);
  out->set_sequence(data.sequence);
  out->set_seed(data.seed);
}

Result<engine::DataStatus> Decode(const wire::DataInfo& in) {
  engine::DataStatus data;
  TESSERA_RETURN_IF_ERROR(NotNegative("job.data.num_samples", in.num_samples()));
  TESSERA_RETURN_IF_ERROR(NotNegative("job.data.sequence", in.sequence()));
  for (const wire::DataPart& part : in.parts()) {
    TESSERA_RETURN_IF_ERROR(NotNegative("job.data.part.num_samples", part.num_samples()));
    TESSERA_TRY(const double weight, DecodeSeconds("job.data.part.weight", part.weight()));
    data.parts.push_back({part.name(), part.format(), part.num_samples(), weight});
  }
  data.num_samples = in.num_samples();
  data.sequence = in.sequence();
  data.seed = in.seed();
  return data;
}

void Encode(const engine::JobStatus& job, wire::JobInfo* out) {
  out->set_name(Utf8(job.name));
  out->set_model(Utf8(job.model));
  out->set_state(static_cast<std::uint32_t>(job.state));
  out->set_reason(Utf8(job.reason));
  out->set_step(job.step);
  if (job.loss) out->set_loss(*job.loss);
  if (job.tokens_per_second) out->set_tokens_per_second(*job.tokens_per_second);
  agents::Encode(job.mesh, out->mutable_mesh());
  EncodeAll(job.devices, out->mutable_devices());
  out->set_epoch(job.epoch);
  out->set_timeline(job.timeline);
  out->set_layout_hash(Utf8(job.layout_hash));
  out->set_global_batch(job.global_batch);
  out->set_num_tensors(job.num_tensors);
  out->set_state_bytes(job.state_bytes);
  out->set_max_steps(job.max_steps);
  agents::Encode(job.options, out->mutable_options());
  if (job.step_seconds) out->set_step_seconds(*job.step_seconds);
  out->set_command(Utf8(job.command));
  if (!job.data.empty()) Encode(job.data, out->mutable_data());
  out->set_at_change(Utf8(job.at_change));
}

Result<engine::JobStatus> Decode(const wire::JobInfo& in) {
  engine::JobStatus job;
  job.name = in.name();
  job.model = in.model();
  TESSERA_TRY(job.state, DecodeEnum("job state", in.state(), engine::JobState::kFailed));
  job.reason = in.reason();
  if (in.has_loss()) job.loss = in.loss();  // a diverged loss is NaN and is shown as such
  if (in.has_tokens_per_second()) job.tokens_per_second = in.tokens_per_second();
  TESSERA_TRY(job.mesh, agents::Decode(in.mesh()));
  TESSERA_TRY(job.devices, DecodeAll(in.devices()));
  TESSERA_RETURN_IF_ERROR(NotNegative("job.step", in.step()));
  TESSERA_RETURN_IF_ERROR(NotNegative("job.epoch", in.epoch()));
  TESSERA_RETURN_IF_ERROR(NotNegative("job.timeline", in.timeline()));
  TESSERA_RETURN_IF_ERROR(NotNegative("job.global_batch", in.global_batch()));
  TESSERA_RETURN_IF_ERROR(NotNegative("job.num_tensors", in.num_tensors()));
  TESSERA_RETURN_IF_ERROR(NotNegative("job.state_bytes", in.state_bytes()));
  TESSERA_RETURN_IF_ERROR(NotNegative("job.max_steps", in.max_steps()));
  job.step = in.step();
  job.epoch = in.epoch();
  job.timeline = in.timeline();
  job.layout_hash = in.layout_hash();
  job.global_batch = in.global_batch();
  job.num_tensors = in.num_tensors();
  job.state_bytes = in.state_bytes();
  job.max_steps = in.max_steps();
  TESSERA_TRY(job.options, agents::Decode(in.options()));
  if (in.has_step_seconds()) {
    TESSERA_TRY(job.step_seconds, DecodeSeconds("job.step_seconds", in.step_seconds()));
  }
  job.command = in.command();
  if (in.has_data()) {
    TESSERA_TRY(job.data, Decode(in.data()));
  }
  job.at_change = in.at_change();
  return job;
}

void Encode(const engine::PlanCertificate& certificate, wire::PlanCertificate* out) {
  out->set_port(Utf8(certificate.port));
  out->set_port_bytes(certificate.port_bytes);
  out->set_port_seconds(certificate.port_seconds);
  out->set_direct_bound(certificate.direct_bound);
  out->set_direct_seconds(certificate.direct_seconds);
  out->set_relayed_bound(certificate.relayed_bound);
  out->set_relayed_seconds(certificate.relayed_seconds);
  out->set_network_bound(certificate.network_bound);
  out->set_single_source_bytes(certificate.single_source_bytes);
  out->set_host_bytes_per_second(certificate.host_bytes_per_second);
  out->set_network_bytes_per_second(certificate.network_bytes_per_second);
  out->set_bandwidths_from(Utf8(certificate.bandwidths_from));
}

Result<engine::PlanCertificate> Decode(const wire::PlanCertificate& in) {
  const std::pair<const char*, std::int64_t> counts[] = {
      {"plan.certificate.port_bytes", in.port_bytes()},
      {"plan.certificate.direct_bound", in.direct_bound()},
      {"plan.certificate.relayed_bound", in.relayed_bound()},
      {"plan.certificate.network_bound", in.network_bound()},
      {"plan.certificate.single_source_bytes", in.single_source_bytes()}};
  for (const auto& [what, value] : counts) TESSERA_RETURN_IF_ERROR(NotNegative(what, value));
  engine::PlanCertificate out;
  const std::tuple<const char*, double, double*> numbers[] = {
      {"plan.certificate.port_seconds", in.port_seconds(), &out.port_seconds},
      {"plan.certificate.direct_seconds", in.direct_seconds(), &out.direct_seconds},
      {"plan.certificate.relayed_seconds", in.relayed_seconds(), &out.relayed_seconds},
      {"plan.certificate.host_bytes_per_second", in.host_bytes_per_second(),
       &out.host_bytes_per_second},
      {"plan.certificate.network_bytes_per_second", in.network_bytes_per_second(),
       &out.network_bytes_per_second}};
  for (const auto& [what, value, to] : numbers) {
    TESSERA_TRY(*to, DecodeSeconds(what, value));
  }
  out.port = in.port();
  out.port_bytes = in.port_bytes();
  out.direct_bound = in.direct_bound();
  out.relayed_bound = in.relayed_bound();
  out.network_bound = in.network_bound();
  out.single_source_bytes = in.single_source_bytes();
  out.bandwidths_from = in.bandwidths_from();
  return out;
}

}  // namespace

void Encode(ptc::DeviceId device, wire::Device* out) {
  out->set_node(device.node);
  out->set_index(device.index);
}

Result<ptc::DeviceId> Decode(const wire::Device& in) {
  TESSERA_RETURN_IF_ERROR(NotNegative("device.node", in.node()));
  TESSERA_RETURN_IF_ERROR(NotNegative("device.index", in.index()));
  return ptc::DeviceId{in.node(), in.index()};
}

void Encode(const ptc::MeshShape& mesh, wire::Mesh* out) {
  out->clear_sizes();
  for (const std::int64_t size : mesh.sizes) out->add_sizes(size);
}

Result<ptc::MeshShape> Decode(const wire::Mesh& in) {
  ptc::MeshShape mesh;
  if (in.sizes_size() != ptc::kNumAxes) {
    return InvalidArgument("mesh has " + std::to_string(in.sizes_size()) + " degrees, not " +
                           std::to_string(ptc::kNumAxes));
  }
  for (int axis = 0; axis < ptc::kNumAxes; ++axis) {
    if (in.sizes(axis) < 1 || in.sizes(axis) > kMaxDegree) {
      return InvalidArgument("mesh degree " + std::to_string(in.sizes(axis)) +
                             " is not between 1 and " + std::to_string(kMaxDegree));
    }
    mesh.sizes[static_cast<std::size_t>(axis)] = in.sizes(axis);
  }
  return mesh;
}

void Encode(const engine::StepOptions& options, wire::StepOptions* out) {
  out->set_zero(options.zero);
  out->set_micro_batch(options.micro_batch);
}

Result<engine::StepOptions> Decode(const wire::StepOptions& in) {
  TESSERA_RETURN_IF_ERROR(NotNegative("micro-batch", in.micro_batch()));
  return engine::StepOptions{in.zero(), in.micro_batch()};
}

void Encode(const engine::ClusterSnapshot& snapshot, wire::Snapshot* out) {
  out->Clear();
  out->set_cluster(Utf8(snapshot.cluster));
  out->set_sequence(snapshot.sequence);
  out->set_link_bytes_per_second(snapshot.link_bytes_per_second);
  out->set_one_host(snapshot.one_host);
  out->set_history_problem(Utf8(snapshot.history_problem));
  for (const auto& node : snapshot.nodes) Encode(node, out->add_nodes());
  for (const auto& job : snapshot.jobs) Encode(job, out->add_jobs());
  if (snapshot.transaction) Encode(*snapshot.transaction, out->mutable_transaction());
}

Result<engine::ClusterSnapshot> Decode(const wire::Snapshot& in) {
  engine::ClusterSnapshot snapshot;
  snapshot.cluster = in.cluster();
  TESSERA_RETURN_IF_ERROR(NotNegative("snapshot.sequence", in.sequence()));
  TESSERA_RETURN_IF_ERROR(Finite("snapshot.link_bytes_per_second", in.link_bytes_per_second()));
  snapshot.sequence = in.sequence();
  snapshot.link_bytes_per_second = in.link_bytes_per_second();
  snapshot.one_host = in.one_host();
  snapshot.history_problem = in.history_problem();
  for (const wire::NodeInfo& info : in.nodes()) {
    TESSERA_TRY(engine::NodeStatus node, Decode(info));
    snapshot.nodes.push_back(std::move(node));
  }
  for (const wire::JobInfo& info : in.jobs()) {
    TESSERA_TRY(engine::JobStatus job, Decode(info));
    snapshot.jobs.push_back(std::move(job));
  }
  if (in.has_transaction()) {
    TESSERA_TRY(snapshot.transaction, Decode(in.transaction()));
  }
  return snapshot;
}

void Encode(const engine::TxnStatus& txn, wire::TxnInfo* out) {
  out->Clear();
  out->set_id(txn.id);
  out->set_job(Utf8(txn.job));
  out->set_phase(static_cast<std::uint32_t>(txn.phase));
  Encode(txn.from_mesh, out->mutable_from_mesh());
  Encode(txn.to_mesh, out->mutable_to_mesh());
  EncodeAll(txn.from_devices, out->mutable_from_devices());
  EncodeAll(txn.to_devices, out->mutable_to_devices());
  out->set_bytes_done(txn.bytes_done);
  out->set_bytes_total(txn.bytes_total);
  if (txn.eta) out->set_eta(*txn.eta);
  out->set_paused(txn.paused);
  out->set_checksums_equal(txn.checksums_equal);
  out->set_reason(Utf8(txn.reason));
  EncodeAll(txn.flows, out->mutable_flows());
  out->set_can_cancel(txn.can_cancel);
  Encode(txn.from_options, out->mutable_from_options());
  Encode(txn.to_options, out->mutable_to_options());
}

Result<engine::TxnStatus> Decode(const wire::TxnInfo& in) {
  engine::TxnStatus txn;
  TESSERA_RETURN_IF_ERROR(NotNegative("transaction.id", in.id()));
  TESSERA_RETURN_IF_ERROR(NotNegative("transaction.bytes_done", in.bytes_done()));
  TESSERA_RETURN_IF_ERROR(NotNegative("transaction.bytes_total", in.bytes_total()));
  TESSERA_RETURN_IF_ERROR(NotNegative("transaction.checksums_equal", in.checksums_equal()));
  TESSERA_RETURN_IF_ERROR(Finite("transaction.paused", in.paused()));
  txn.id = in.id();
  txn.job = in.job();
  TESSERA_TRY(txn.phase, DecodeEnum("transaction phase", in.phase(), engine::TxnPhase::kInDoubt));
  TESSERA_TRY(txn.from_mesh, Decode(in.from_mesh()));
  TESSERA_TRY(txn.to_mesh, Decode(in.to_mesh()));
  TESSERA_TRY(txn.from_devices, DecodeAll(in.from_devices()));
  TESSERA_TRY(txn.to_devices, DecodeAll(in.to_devices()));
  txn.bytes_done = in.bytes_done();
  txn.bytes_total = in.bytes_total();
  if (in.has_eta()) {
    TESSERA_RETURN_IF_ERROR(Finite("transaction.eta", in.eta()));
    txn.eta = in.eta();
  }
  txn.paused = in.paused();
  txn.checksums_equal = in.checksums_equal();
  txn.reason = in.reason();
  TESSERA_TRY(txn.flows, DecodeFlows(in.flows()));
  txn.can_cancel = in.can_cancel();
  TESSERA_TRY(txn.from_options, Decode(in.from_options()));
  TESSERA_TRY(txn.to_options, Decode(in.to_options()));
  return txn;
}

void Encode(const engine::Event& event, wire::EventInfo* out) {
  out->set_sequence(event.sequence);
  out->set_time(event.time);
  out->set_severity(static_cast<std::uint32_t>(event.severity));
  out->set_source(Utf8(event.source));
  out->set_text(Utf8(event.text));
}

Result<engine::Event> Decode(const wire::EventInfo& in) {
  engine::Event event;
  TESSERA_RETURN_IF_ERROR(NotNegative("event.sequence", in.sequence()));
  TESSERA_RETURN_IF_ERROR(Finite("event.time", in.time()));
  event.sequence = in.sequence();
  event.time = in.time();
  TESSERA_TRY(event.severity,
              DecodeEnum("event severity", in.severity(), engine::Severity::kError));
  event.source = in.source();
  event.text = in.text();
  return event;
}

void Encode(const engine::Sample& sample, wire::SampleInfo* out) {
  out->set_job(Utf8(sample.job));
  out->set_step(sample.step);
  out->set_loss(sample.loss);
  out->set_grad_norm(sample.grad_norm);
  out->set_tokens_per_second(sample.tokens_per_second);
  out->set_time(sample.time);
  out->set_sequence(sample.sequence);
}

Result<engine::Sample> Decode(const wire::SampleInfo& in) {
  TESSERA_RETURN_IF_ERROR(NotNegative("sample.step", in.step()));
  TESSERA_RETURN_IF_ERROR(Finite("sample.time", in.time()));
  return engine::Sample{in.job(),  in.step(),    in.loss(), in.grad_norm(), in.tokens_per_second(),
                        in.time(), in.sequence()};
}

void Encode(const engine::PlanSummary& plan, wire::PlanInfo* out) {
  out->Clear();
  out->set_job(Utf8(plan.job));
  out->set_epoch(plan.epoch);
  out->set_from_layout_hash(Utf8(plan.from_layout_hash));
  Encode(plan.from_mesh, out->mutable_from_mesh());
  Encode(plan.to_mesh, out->mutable_to_mesh());
  EncodeAll(plan.from_devices, out->mutable_from_devices());
  EncodeAll(plan.to_devices, out->mutable_to_devices());
  out->set_hash(Utf8(plan.hash));
  out->set_kept(plan.kept);
  out->set_device(plan.device);
  out->set_host(plan.host);
  out->set_network(plan.network);
  out->set_snapshot(plan.snapshot);
  out->set_storage(plan.storage);
  out->set_relayed(plan.relayed);
  out->set_network_direct(plan.network_direct);
  out->set_volume_bound(plan.volume_bound);
  Encode(plan.certificate, out->mutable_certificate());
  EncodeAll(plan.idle, out->mutable_idle());
  for (const auto& peak : plan.peak_memory) {
    wire::PlanInfo::Peak* info = out->add_peak_memory();
    Encode(peak.device, info->mutable_device());
    info->set_bytes(peak.bytes);
    info->set_capacity(peak.capacity);
  }
  out->set_single_source(plan.single_source);
  out->set_pause_estimate(plan.pause_estimate);
  out->set_rollback(plan.rollback);
  EncodeAll(plan.flows, out->mutable_flows());
  out->set_global_batch(plan.global_batch);
  out->set_why(Utf8(plan.why));
  Encode(plan.from_options, out->mutable_from_options());
  Encode(plan.to_options, out->mutable_to_options());
  if (plan.from_step_seconds) out->set_from_step_seconds(*plan.from_step_seconds);
  if (plan.to_step_seconds) out->set_to_step_seconds(*plan.to_step_seconds);
}

Result<engine::PlanSummary> Decode(const wire::PlanInfo& in) {
  engine::PlanSummary plan;
  const std::pair<const char*, std::int64_t> counts[] = {
      {"plan.epoch", in.epoch()},
      {"plan.kept", in.kept()},
      {"plan.device", in.device()},
      {"plan.host", in.host()},
      {"plan.network", in.network()},
      {"plan.snapshot", in.snapshot()},
      {"plan.storage", in.storage()},
      {"plan.network_direct", in.network_direct()},
      {"plan.volume_bound", in.volume_bound()},
      {"plan.single_source", in.single_source()},
      {"plan.global_batch", in.global_batch()},
  };
  for (const auto& [what, value] : counts) TESSERA_RETURN_IF_ERROR(NotNegative(what, value));
  TESSERA_RETURN_IF_ERROR(Finite("plan.pause_estimate", in.pause_estimate()));
  plan.job = in.job();
  plan.epoch = in.epoch();
  plan.from_layout_hash = in.from_layout_hash();
  TESSERA_TRY(plan.from_mesh, Decode(in.from_mesh()));
  TESSERA_TRY(plan.to_mesh, Decode(in.to_mesh()));
  TESSERA_TRY(plan.from_devices, DecodeAll(in.from_devices()));
  TESSERA_TRY(plan.to_devices, DecodeAll(in.to_devices()));
  plan.hash = in.hash();
  plan.kept = in.kept();
  plan.device = in.device();
  plan.host = in.host();
  plan.network = in.network();
  plan.snapshot = in.snapshot();
  plan.storage = in.storage();
  plan.relayed = in.relayed();
  plan.network_direct = in.network_direct();
  plan.volume_bound = in.volume_bound();
  TESSERA_TRY(plan.certificate, Decode(in.certificate()));
  TESSERA_TRY(plan.idle, DecodeAll(in.idle()));
  for (const wire::PlanInfo::Peak& info : in.peak_memory()) {
    engine::PlanSummary::Peak peak;
    TESSERA_TRY(peak.device, Decode(info.device()));
    TESSERA_RETURN_IF_ERROR(NotNegative("plan.peak_memory.bytes", info.bytes()));
    TESSERA_RETURN_IF_ERROR(NotNegative("plan.peak_memory.capacity", info.capacity()));
    peak.bytes = info.bytes();
    peak.capacity = info.capacity();
    plan.peak_memory.push_back(peak);
  }
  plan.single_source = in.single_source();
  plan.pause_estimate = in.pause_estimate();
  plan.rollback = in.rollback();
  TESSERA_TRY(plan.flows, DecodeFlows(in.flows()));
  plan.global_batch = in.global_batch();
  plan.why = in.why();
  TESSERA_TRY(plan.from_options, Decode(in.from_options()));
  TESSERA_TRY(plan.to_options, Decode(in.to_options()));
  if (in.has_from_step_seconds()) {
    TESSERA_TRY(plan.from_step_seconds,
                DecodeSeconds("plan.from_step_seconds", in.from_step_seconds()));
  }
  if (in.has_to_step_seconds()) {
    TESSERA_TRY(plan.to_step_seconds, DecodeSeconds("plan.to_step_seconds", in.to_step_seconds()));
  }
  return plan;
}

void Encode(const engine::HistoryEntry& entry, wire::HistoryInfo* out) {
  out->Clear();
  out->set_id(entry.id);
  out->set_job(Utf8(entry.job));
  out->set_from(Utf8(entry.from));
  out->set_to(Utf8(entry.to));
  out->set_started(entry.started);
  out->set_result(Utf8(entry.result));
  out->set_reason(Utf8(entry.reason));
  for (const auto& [phase, seconds] : entry.phases) (*out->mutable_phases())[Utf8(phase)] = seconds;
  out->set_pause(entry.pause);
  out->set_bytes_moved(entry.bytes_moved);
  out->set_volume_bound(entry.volume_bound);
  out->set_digest_before(Utf8(entry.digest_before));
  out->set_digest_after(Utf8(entry.digest_after));
  out->set_step(entry.step);
  out->set_epoch(entry.epoch);
  Encode(entry.from_options, out->mutable_from_options());
  Encode(entry.to_options, out->mutable_to_options());
  out->set_requester(Utf8(entry.requester));
  out->set_kept(entry.kept);
  out->set_device(entry.device);
  out->set_host(entry.host);
  out->set_network(entry.network);
  out->set_pause_estimate(entry.pause_estimate);
  EncodeAll(entry.flows, out->mutable_flows());
}

Result<engine::HistoryEntry> Decode(const wire::HistoryInfo& in) {
  engine::HistoryEntry entry;
  const std::pair<const char*, std::int64_t> counts[] = {
      {"history.id", in.id()},
      {"history.bytes_moved", in.bytes_moved()},
      {"history.volume_bound", in.volume_bound()},
      {"history.step", in.step()},
      {"history.epoch", in.epoch()},
      {"history.kept", in.kept()},
      {"history.device", in.device()},
      {"history.host", in.host()},
      {"history.network", in.network()},
  };
  for (const auto& [what, value] : counts) TESSERA_RETURN_IF_ERROR(NotNegative(what, value));
  TESSERA_RETURN_IF_ERROR(Finite("history.started", in.started()));
  TESSERA_RETURN_IF_ERROR(Finite("history.pause", in.pause()));
  TESSERA_RETURN_IF_ERROR(Finite("history.pause_estimate", in.pause_estimate()));
  entry.id = in.id();
  entry.job = in.job();
  entry.from = in.from();
  entry.to = in.to();
  entry.started = in.started();
  entry.result = in.result();
  entry.reason = in.reason();
  for (const auto& [phase, seconds] : in.phases()) {
    TESSERA_RETURN_IF_ERROR(Finite("history.phases", seconds));
    entry.phases[phase] = seconds;
  }
  entry.pause = in.pause();
  entry.bytes_moved = in.bytes_moved();
  entry.volume_bound = in.volume_bound();
  entry.digest_before = in.digest_before();
  entry.digest_after = in.digest_after();
  entry.step = in.step();
  entry.epoch = in.epoch();
  TESSERA_TRY(entry.from_options, Decode(in.from_options()));
  TESSERA_TRY(entry.to_options, Decode(in.to_options()));
  entry.requester = in.requester();
  entry.kept = in.kept();
  entry.device = in.device();
  entry.host = in.host();
  entry.network = in.network();
  entry.pause_estimate = in.pause_estimate();
  TESSERA_TRY(entry.flows, DecodeFlows(in.flows()));
  return entry;
}

void Encode(const engine::Candidate& candidate, wire::CandidateInfo* out) {
  out->Clear();
  Encode(candidate.mesh, out->mutable_mesh());
  Encode(candidate.options, out->mutable_options());
  EncodeAll(candidate.devices, out->mutable_devices());
  EncodeAll(candidate.idle, out->mutable_idle());
  out->set_step_seconds(candidate.step_seconds);
  out->set_pause_seconds(candidate.pause_seconds);
  out->set_moved_bytes(candidate.moved_bytes);
  out->set_peak_bytes(candidate.peak_bytes);
  out->set_capacity(candidate.capacity);
  out->set_current(candidate.current);
  out->set_recommended(candidate.recommended);
}

Result<engine::Candidate> Decode(const wire::CandidateInfo& in) {
  engine::Candidate candidate;
  TESSERA_RETURN_IF_ERROR(NotNegative("candidate.moved_bytes", in.moved_bytes()));
  TESSERA_RETURN_IF_ERROR(NotNegative("candidate.peak_bytes", in.peak_bytes()));
  TESSERA_RETURN_IF_ERROR(NotNegative("candidate.capacity", in.capacity()));
  TESSERA_TRY(candidate.mesh, Decode(in.mesh()));
  TESSERA_TRY(candidate.options, Decode(in.options()));
  TESSERA_TRY(candidate.devices, DecodeAll(in.devices()));
  TESSERA_TRY(candidate.idle, DecodeAll(in.idle()));
  TESSERA_TRY(candidate.step_seconds, DecodeSeconds("candidate.step_seconds", in.step_seconds()));
  TESSERA_TRY(candidate.pause_seconds,
              DecodeSeconds("candidate.pause_seconds", in.pause_seconds()));
  candidate.moved_bytes = in.moved_bytes();
  candidate.peak_bytes = in.peak_bytes();
  candidate.capacity = in.capacity();
  candidate.current = in.current();
  candidate.recommended = in.recommended();
  return candidate;
}

void Encode(const engine::Proposal& proposal, wire::ProposeReply* out) {
  out->Clear();
  out->set_job(Utf8(proposal.job));
  for (const auto& candidate : proposal.candidates) Encode(candidate, out->add_candidates());
  out->set_why(Utf8(proposal.why));
  if (proposal.calibrated) out->set_calibrated(*proposal.calibrated);
}

Result<engine::Proposal> Decode(const wire::ProposeReply& in) {
  engine::Proposal proposal;
  proposal.job = in.job();
  for (const wire::CandidateInfo& info : in.candidates()) {
    TESSERA_TRY(engine::Candidate candidate, Decode(info));
    proposal.candidates.push_back(std::move(candidate));
  }
  proposal.why = in.why();
  if (in.has_calibrated()) {
    TESSERA_TRY(proposal.calibrated, DecodeSeconds("proposal.calibrated", in.calibrated()));
  }
  return proposal;
}

void Encode(const engine::Check& check, wire::CheckInfo* out) {
  out->Clear();
  if (check.node) out->set_node(*check.node);
  out->set_name(Utf8(check.name));
  out->set_verdict(static_cast<std::uint32_t>(check.verdict));
  out->set_value(Utf8(check.value));
  out->set_remedy(Utf8(check.remedy));
}

Result<engine::Check> Decode(const wire::CheckInfo& in) {
  engine::Check check;
  if (in.has_node()) {
    TESSERA_RETURN_IF_ERROR(NotNegative("check.node", in.node()));
    check.node = in.node();
  }
  check.name = in.name();
  TESSERA_TRY(check.verdict,
              DecodeEnum("check verdict", in.verdict(), engine::Check::Verdict::kSkipped));
  check.value = in.value();
  check.remedy = in.remedy();
  return check;
}

void Encode(const std::vector<engine::Check>& checks, wire::DoctorReply* out) {
  out->Clear();
  for (const engine::Check& check : checks) Encode(check, out->add_checks());
}

Result<std::vector<engine::Check>> Decode(const wire::DoctorReply& in) {
  std::vector<engine::Check> checks;
  for (const wire::CheckInfo& info : in.checks()) {
    TESSERA_TRY(engine::Check check, Decode(info));
    checks.push_back(std::move(check));
  }
  return checks;
}

void Encode(const Error& error, wire::ErrorReply* out) {
  out->set_code(static_cast<std::uint32_t>(error.code));
  out->set_message(Utf8(error.ToString()));
}

Error Decode(const wire::ErrorReply& in) {
  const auto code = DecodeEnum("error code", in.code(), ErrorCode::kInternal);
  return Error{code.value_or(ErrorCode::kInternal), in.message(), {}};
}

}  // namespace tessera::agents
