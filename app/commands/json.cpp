// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/commands/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>

#include "agents/wire/tessera/wire/control.pb.h"
#include "app/commands/job_text.h"
#include "engine/cluster/mesh_json.h"
#include "app/commands/terminal.h"
#include "engine/history/records.h"
#include "ptc/base/check.h"

namespace tessera::app {
namespace {

template <typename T>
Json orNull(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

/// Null for 0, which means that there is none.
Json aboveZero(std::int64_t value) { return value > 0 ? Json(value) : Json(nullptr); }

/// A configuration: {"mesh","devices","zero","micro_batch"}.
Json configurationToJson(const ptc::MeshShape& mesh, const std::vector<ptc::DeviceId>& devices,
                         const engine::StepOptions& options) {
  return {{"mesh", toJson(mesh)},
          {"devices", toJson(devices)},
          {"zero", options.zero},
          {"micro_batch", options.micro_batch}};
}

/// Each pair of devices with the bytes that are planned between them.
Json flowsOf(const std::vector<engine::FlowStatus>& flows) {
  Json json = Json::array();
  for (const engine::FlowStatus& flow : flows)
    json.push_back({{"source", ptc::ToString(flow.source)},
                    {"destination", ptc::ToString(flow.destination)},
                    {"bytes", flow.bytes_total}});
  return json;
}

/// Each pair of devices with its progress.
Json progressOf(const std::vector<engine::FlowStatus>& flows) {
  Json json = Json::array();
  for (const engine::FlowStatus& flow : flows)
    json.push_back({{"source", ptc::ToString(flow.source)},
                    {"destination", ptc::ToString(flow.destination)},
                    {"state", engine::ToString(flow.state)},
                    {"done_bytes", flow.bytes_done},
                    {"total_bytes", flow.bytes_total},
                    {"bytes_per_second", flow.bytes_per_second},
                    {"reason", flow.reason.empty() ? Json(nullptr) : Json(flow.reason)}});
  return json;
}

Json dataOf(const engine::DataStatus& data) {
  if (data.empty()) return nullptr;
  Json parts = Json::array();
  for (const engine::DataStatus::Dataset& part : data.parts) {
    parts.push_back({{"name", part.name},
                     {"format", part.format},
                     {"samples", part.num_samples},
                     {"weight", part.weight > 0 ? Json(part.weight) : Json(nullptr)}});
  }
  return {{"parts", parts},
          {"samples", data.num_samples},
          {"sequence", data.sequence},
          {"seed", data.seed}};
}

}  // namespace

Json toJson(const ptc::MeshShape& mesh) { return engine::MeshObject(mesh); }

Json toJson(const std::vector<ptc::DeviceId>& devices) { return engine::DeviceNames(devices); }

namespace {

/// Whether the job keeps all state without any one node; otherwise the worst one, and its bytes.
Json survivalOf(const std::optional<engine::Survival>& survival) {
  if (!survival) return nullptr;
  return {{"any_node", survival->of_any_node()},
          {"worst_node",
           survival->of_any_node() ? Json(nullptr) : Json(fmt::format("n{}", survival->node))},
          {"lost_bytes", survival->bytes}};
}

Json wayOf(const engine::RecoveryWay& way) {
  Json json = configurationToJson(way.mesh, way.devices, way.options);
  json["source"] = engine::ToString(way.source);
  json["step"] = way.step;
  json["lost_steps"] = way.steps_lost;
  json["moved_bytes"] = way.moved_bytes;
  json["seconds"] = orNull(way.seconds);
  json["step_seconds"] = orNull(way.step_seconds);
  json["survives"] = survivalOf(way.survival);
  json["checkpoint"] = way.checkpoint.empty() ? Json(nullptr) : Json(way.checkpoint);
  return json;
}

}  // namespace

Json toJson(const engine::DecisionStatus& decision) {
  const engine::RecoveryWay* const way = decision.can_continue() ? &decision.way() : nullptr;
  const auto stepFrom = [way](engine::RecoverySource source) {
    return way != nullptr && way->source == source ? Json(way->step) : Json(nullptr);
  };
  Json ways = Json::array(), layers = Json::array();
  for (const engine::RecoveryWay& each : decision.ways) ways.push_back(wayOf(each));
  for (const engine::LayerRange& range : decision.missing_layers)
    layers.push_back(Json::array({range.first, range.last}));
  return {{"case", engine::ToString(decision.loss)},
          {"lost", toJson(decision.lost)},
          {"reason", decision.reason},
          {"chosen", decision.chosen ? Json(engine::ToString(*decision.chosen)) : Json(nullptr)},
          {"left_seconds", orNull(decision.seconds_left)},
          {"snapshot_step", stepFrom(engine::RecoverySource::kSnapshot)},
          {"checkpoint",
           way == nullptr || way->checkpoint.empty() ? Json(nullptr) : Json(way->checkpoint)},
          {"checkpoint_step", stepFrom(engine::RecoverySource::kCheckpoint)},
          {"missing_bytes", decision.missing_bytes},
          {"missing", decision.missing},
          {"missing_layers", layers},
          {"missing_others", decision.missing_others},
          {"continue", way == nullptr ? Json(nullptr) : wayOf(*way)},
          {"ways", ways},
          {"awaited", toJson(decision.awaited)},
          {"why_not", decision.why_not}};
}

namespace {

Json memoryOf(const engine::SnapshotMemory& memory) {
  if (memory.bytes == 0) return nullptr;
  return {{"bytes", memory.bytes},
          {"nodes", memory.num_nodes},
          {"peak_bytes", memory.peak_bytes},
          {"peak_node", fmt::format("n{}", memory.peak_node)}};
}

Json snapshotsOf(const engine::SnapshotStatus& snapshots) {
  Json json = toJson(snapshots.every);
  json.update({{"step", snapshots.step ? Json(*snapshots.step) : Json(nullptr)},
               {"bytes", snapshots.bytes},
               {"nodes", snapshots.num_nodes},
               {"taken", snapshots.taken},
               {"given_up", snapshots.given_up},
               {"seconds", snapshots.seconds},
               {"problem", snapshots.problem},
               {"forecast", memoryOf(snapshots.forecast)}});
  return json;
}

/// A value that is not finite is null.
Json metricsOf(const engine::Metrics& metrics) {
  Json json = Json::object();
  for (const auto& [name, value] : metrics)
    json[name] = std::isfinite(value) ? Json(value) : Json(nullptr);
  return json;
}

Json checkpointsOf(const engine::CheckpointStatus& checkpoints) {
  Json json = toJson(checkpoints.schedule.every);
  json.update({{"folder", checkpoints.schedule.folder},
               {"keep", checkpoints.schedule.keep},
               {"step", checkpoints.step ? Json(*checkpoints.step) : Json(nullptr)},
               {"path", checkpoints.path},
               {"count", checkpoints.count},
               {"saving", checkpoints.is_saving},
               {"done_bytes", checkpoints.done},
               {"total_bytes", checkpoints.total},
               {"failed", checkpoints.failed},
               {"problem", checkpoints.problem}});
  return json;
}

}  // namespace

Json toJson(const engine::JobStatus& job, double now) {
  Json json = {{"name", job.name},
               {"state", engine::ToString(job.state)},
               {"step", job.step},
               {"loss", orNull(job.loss)},
               {"tokens_per_second", orNull(job.tokens_per_second)},
               {"mesh", toJson(job.mesh)},
               {"devices", toJson(job.devices)},
               {"epoch", job.epoch},
               {"timeline", job.timeline},
               {"layout_hash", job.layout_hash},
               {"model", job.model},
               {"reason", job.reason},
               {"global_batch", job.global_batch},
               {"state_bytes", job.state_bytes},
               {"max_steps", job.max_steps},
               {"finished", job.finished},
               {"started", job.started > 0 ? Json(job.started) : Json(nullptr)},
               {"age_seconds", job.started > 0 && now > 0 ? Json(std::max(now - job.started, 0.0))
                                                          : Json(nullptr)},
               {"eta_seconds", orNull(secondsLeft(job))},
               {"owner", job.owner.empty() ? Json(nullptr) : Json(job.owner)},
               {"num_tensors", job.num_tensors},
               {"zero", job.options.zero},
               {"micro_batch", job.options.micro_batch},
               {"step_seconds", orNull(job.step_seconds)},
               {"survives", survivalOf(job.survival)},
               {"command", job.command.empty() ? Json(nullptr) : Json(job.command)},
               {"data", dataOf(job.data)},
               {"wrong_on_purpose", job.at_change.empty() ? Json(nullptr) : Json(job.at_change)},
               {"on_failure", engine::ToString(job.on_failure)},
               {"snapshots", snapshotsOf(job.snapshots)},
               {"checkpoints", checkpointsOf(job.checkpoints)},
               {"metrics", metricsOf(job.metrics)},
               {"decision", job.decision ? toJson(*job.decision) : Json(nullptr)}};
  if (job.state != engine::JobState::kUnknown) return json;
  for (auto& [key, value] : json.items()) {
    const bool isKnown = key == "name" || key == "state" || key == "epoch" || key == "reason";
    if (!isKnown && !value.is_array()) value = nullptr;
  }
  return json;
}

Json toJson(const engine::TxnStatus& txn) {
  return {{"id", txn.id},
          {"job", txn.job},
          {"phase", engine::ToString(txn.phase)},
          {"change_kind", engine::ToString(txn.kind)},
          {"done_bytes", txn.bytes_done},
          {"total_bytes", txn.bytes_total},
          {"eta_seconds", orNull(txn.eta)},
          {"eta_range_seconds", txn.eta_least && txn.eta_most
                                    ? Json::array({*txn.eta_least, *txn.eta_most})
                                    : Json(nullptr)},
          {"flows", progressOf(txn.flows)},
          {"from", configurationToJson(txn.from_mesh, txn.from_devices, txn.from_options)},
          {"to", configurationToJson(txn.to_mesh, txn.to_devices, txn.to_options)},
          {"paused_seconds", txn.paused},
          {"throttle_bytes_per_second", txn.throttle > 0 ? Json(txn.throttle) : Json(nullptr)},
          {"can_cancel", txn.can_cancel},
          {"round", txn.round > 0 ? Json(txn.round) : Json(nullptr)},
          {"rounds", txn.rounds > 0 ? Json(txn.rounds) : Json(nullptr)},
          {"copying_step", txn.leg > 0 ? Json(txn.leg) : Json(nullptr)},
          {"copying_steps", txn.legs > 0 ? Json(txn.legs) : Json(nullptr)},
          {"reason", txn.reason}};
}

Json toJson(const std::optional<engine::SimulationStatus>& simulation) {
  if (!simulation) return nullptr;
  return {{"hardware", simulation->hardware},
          {"speed", simulation->speed},
          {"reached", simulation->reached},
          {"seed", simulation->seed}};
}

Json toJson(const engine::ClusterSnapshot& snapshot) {
  Json nodes = Json::array();
  for (const engine::NodeStatus& node : snapshot.nodes) {
    Json devices = Json::array();
    for (const engine::DeviceStatus& device : node.devices)
      devices.push_back(
          {{"name", ptc::ToString(device.id)},
           {"used_bytes", device.used_bytes},
           {"total_bytes", device.total_bytes},
           {"job", device.job.empty() ? Json(nullptr) : Json(device.job)},
           {"rank", orNull(device.rank)},
           {"joining", device.joining},
           {"failed", device.failed},
           {"pieces", device.pieces},
           {"parameter_bytes", device.parameter_bytes},
           {"optimizer_bytes", device.optimizer_bytes},
           {"busy_seconds", device.busy_seconds > 0 ? Json(device.busy_seconds) : Json(nullptr)},
           {"slow", device.peers_seconds > 0}});
    nodes.push_back({{"name", fmt::format("n{}", node.node)},
                     {"state", engine::ToString(node.state)},
                     {"devices", std::move(devices)},
                     {"last_seen_seconds", node.last_seen},
                     {"host", node.host},
                     {"rack", node.rack.empty() ? Json(nullptr) : Json(node.rack)},
                     {"gpu", node.gpu.empty() ? Json(nullptr) : Json(node.gpu)},
                     {"gpu_driver", node.gpu.empty() ? Json(nullptr) : Json(node.gpu_driver)},
                     {"address", node.address},
                     {"version", node.version},
                     {"problem", node.problem.empty() ? Json(nullptr) : Json(node.problem)},
                     {"view_bytes", node.view_bytes},
                     {"network_faults",
                      {{"malformed", node.network.malformed},
                       {"not_admitted", node.network.not_admitted},
                       {"dropped", node.network.dropped},
                       {"corrupt", node.network.corrupt},
                       {"switched", node.network.switched},
                       {"connections_closed", node.network.connections_closed}}}});
  }
  Json jobs = Json::array();
  for (const engine::JobStatus& job : snapshot.jobs) jobs.push_back(toJson(job, snapshot.time));
  const bool moving = snapshot.transaction && !engine::IsFinal(snapshot.transaction->phase);
  return {{"cluster", snapshot.cluster},
          {"time", snapshot.time > 0 ? Json(snapshot.time) : Json(nullptr)},
          {"nodes", std::move(nodes)},
          {"jobs", std::move(jobs)},
          {"transaction", moving ? toJson(*snapshot.transaction) : Json(nullptr)},
          {"link_bytes_per_second", snapshot.link_bytes_per_second},
          {"plain_lanes", snapshot.plain_lanes},
          {"simulation", toJson(snapshot.simulation)},
          {"operator", snapshot.lease
                           ? Json{{"who", snapshot.lease->who}, {"since", snapshot.lease->since}}
                           : Json()},
          {"history_problem",
           snapshot.history_problem.empty() ? Json() : Json(snapshot.history_problem)}};
}

Json portOf(const engine::PlanCertificate& certificate) {
  return {{"bytes", certificate.port_bytes},
          {"bound_bytes", certificate.direct_bound},
          {"gap", certificate.gap()},
          {"port", certificate.port},
          {"seconds", certificate.port_seconds},
          {"bound_seconds", certificate.direct_seconds},
          {"relayed_bound_bytes", certificate.relayed_bound},
          {"relayed_seconds", certificate.relayed_seconds}};
}

Json bandwidthsOf(const engine::PlanCertificate& certificate) {
  return {{"host_bytes_per_second", certificate.host_bytes_per_second},
          {"network_bytes_per_second", certificate.network_bytes_per_second},
          {"from", certificate.bandwidths_from}};
}

Json moveMemoryOf(const engine::MoveInRounds& rounds) {
  if (rounds.rounds == 0) return {};
  Json extra = Json::object();
  for (const engine::ExtraMemory& device : rounds.extra)
    extra[ptc::ToString(device.device)] = device.planned;
  return {{"limit_bytes", rounds.move_memory},
          {"rounds", rounds.rounds},
          {"extra_bytes", std::move(extra)}};
}

Json toJson(const engine::PlanSummary& plan) {
  Json peaks = Json::object();
  for (const auto& peak : plan.peak_memory) peaks[ptc::ToString(peak.device)] = peak.bytes;
  return {
      {"job", plan.job},
      {"from", configurationToJson(plan.from_mesh, plan.from_devices, plan.from_options)},
      {"to", configurationToJson(plan.to_mesh, plan.to_devices, plan.to_options)},
      {"hash", plan.hash},
      {"bytes",
       {{"kept", plan.kept},
        {"device", plan.device},
        {"host", plan.host},
        {"network", plan.network},
        {"snapshot", plan.snapshot},
        {"storage", plan.storage}}},
      {"relay", {{"on", plan.relayed}, {"network_direct_bytes", plan.network_direct}}},
      {"volume_bound_bytes", plan.volume_bound},
      {"network_bound_bytes", plan.certificate.network_bound},
      {"busiest_port", portOf(plan.certificate)},
      {"bandwidths", bandwidthsOf(plan.certificate)},
      {"idle", toJson(plan.idle)},
      {"peak_bytes", std::move(peaks)},
      {"snapshots", memoryOf(plan.snapshots)},
      {"survives", survivalOf(plan.survival)},
      {"single_source", plan.single_source},
      {"single_source_bytes", plan.certificate.single_source_bytes},
      {"pause_estimate_seconds", plan.pause_estimate},
      {"overlap",
       {{"on", plan.overlap.chosen},
        {"plain_pause_seconds", plan.overlap.plain_pause},
        {"pause_seconds", plan.overlap.pause > 0 ? Json(plan.overlap.pause) : Json()},
        {"gradient_bytes", plan.overlap.gradient_bytes},
        {"follow_bytes", plan.overlap.follow_bytes},
        {"steps", plan.overlap.steps},
        {"why", plan.overlap.why}}},
      {"rollback", plan.in_rounds.rounds > 0 ? Json("until the first round") : Json(plan.rollback)},
      {"move_memory", moveMemoryOf(plan.in_rounds)},
      {"epoch", plan.epoch},
      {"layout_hash", plan.from_layout_hash},
      {"flows", flowsOf(plan.flows)},
      {"global_batch", plan.global_batch},
      {"why", plan.why},
      {"step_seconds",
       {{"from", orNull(plan.from_step_seconds)}, {"to", orNull(plan.to_step_seconds)}}}};
}

Json toJson(const engine::SnapshotEvery& every) {
  return {{"every_steps", aboveZero(every.steps)}, {"every_seconds", aboveZero(every.seconds)}};
}

Json toJson(const engine::CheckpointEntry& checkpoint) {
  const auto mesh = ptc::ParseMeshShape(checkpoint.mesh);  // empty: the manifest names none
  return {{"path", checkpoint.path},
          {"job", checkpoint.job},
          {"step", checkpoint.step},
          {"timeline", checkpoint.timeline},
          {"bytes", checkpoint.bytes},
          {"model", checkpoint.model},
          {"mesh", mesh ? toJson(*mesh) : Json(nullptr)},
          {"digest", checkpoint.digest},
          {"created", checkpoint.created},
          {"complete", checkpoint.problem.empty()},
          {"problem", checkpoint.problem},
          {"scheduled", checkpoint.scheduled}};
}

Json toJson(const engine::HistoryEntry& entry) { return Json::parse(engine::ToJson(entry)); }

Json toJson(const engine::StepOptions& options) {
  return {{"zero", options.zero}, {"micro_batch", options.micro_batch}};
}

Json toJson(const engine::Proposal& proposal) {
  Json candidates = Json::array();
  for (const engine::Candidate& candidate : proposal.candidates) {
    Json json = configurationToJson(candidate.mesh, candidate.devices, candidate.options);
    json["idle"] = toJson(candidate.idle);
    json["step_seconds"] = candidate.step_seconds;
    json["pause_seconds"] = candidate.pause_seconds;
    json["moved_bytes"] = candidate.moved_bytes;
    json["peak_bytes"] = candidate.peak_bytes;
    json["capacity_bytes"] = candidate.capacity;
    json["fits"] = candidate.fits();
    json["current"] = candidate.current;
    json["recommended"] = candidate.recommended;
    json["fastest"] = candidate.fastest;
    json["moves_least"] = candidate.moves_least;
    json["uses_all"] = candidate.idle.empty();
    json["survives"] = survivalOf(candidate.survival);
    candidates.push_back(std::move(json));
  }
  return {{"job", proposal.job},
          {"candidates", std::move(candidates)},
          {"why", proposal.why},
          {"calibrated", orNull(proposal.calibrated)}};
}

Json toJson(const engine::Check& check) {
  return {{"node", check.node ? Json(fmt::format("n{}", *check.node)) : Json(nullptr)},
          {"name", check.name},
          {"verdict", engine::ToString(check.verdict)},
          {"value", check.value},
          {"remedy", check.remedy}};
}

Json toJson(const engine::Sample& sample) { return Json::parse(engine::ToJson(sample)); }

Json toJson(const engine::Event& event) { return Json::parse(engine::ToJson(event)); }

Json toJson(const wire::DigestReply& digest) {
  std::map<std::string, std::string> tensors(digest.tensors().begin(), digest.tensors().end());
  return {{"job", digest.job()},   {"epoch", digest.epoch()},   {"timeline", digest.timeline()},
          {"step", digest.step()}, {"digest", digest.digest()}, {"tensors", std::move(tensors)}};
}

std::string lineOf(const Json& document) {
  TESSERA_CHECK(document.is_object());
  Json versioned = {{"version", kJsonVersion}};
  versioned.update(document);
  return versioned.dump(-1, ' ', false, Json::error_handler_t::replace);
}

void printLine(const Json& document) {
  fmt::print("{}\n", lineOf(document));
  flushOutput();
}

}  // namespace tessera::app
