// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/commands/json.h"

#include <fmt/format.h>

#include <cstdio>

namespace tessera::app {
namespace {

template <typename T>
Json orNull(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json place(const ptc::MeshShape& mesh, const std::vector<ptc::DeviceId>& devices) {
  return {{"mesh", toJson(mesh)}, {"devices", toJson(devices)}};
}

}  // namespace

Json toJson(const ptc::MeshShape& mesh) {
  Json json = {
      {"dp", mesh[ptc::Axis::kDp]}, {"tp", mesh[ptc::Axis::kTp]}, {"pp", mesh[ptc::Axis::kPp]}};
  for (const ptc::Axis axis : {ptc::Axis::kEp, ptc::Axis::kCp})
    if (mesh[axis] > 1) json[std::string(ptc::ToString(axis))] = mesh[axis];
  return json;
}

Json toJson(const std::vector<ptc::DeviceId>& devices) {
  Json json = Json::array();
  for (const ptc::DeviceId device : devices) json.push_back(ptc::ToString(device));
  return json;
}

Json toJson(const engine::JobStatus& job) {
  return {{"name", job.name},
          {"state", engine::ToString(job.state)},
          {"step", job.step},
          {"loss", orNull(job.loss)},
          {"tokens_per_s", orNull(job.tokens_per_second)},
          {"mesh", toJson(job.mesh)},
          {"devices", toJson(job.devices)},
          {"epoch", job.epoch},
          {"timeline", job.timeline},
          {"layout_hash", job.layout_hash},
          {"model", job.model},
          {"reason", job.reason},
          {"global_batch", job.global_batch},
          {"state_bytes", job.state_bytes},
          {"max_steps", job.max_steps}};
}

Json toJson(const engine::TxnStatus& txn) {
  return {{"id", txn.id},
          {"job", txn.job},
          {"phase", engine::ToString(txn.phase)},
          {"bytes_done", txn.bytes_done},
          {"bytes_total", txn.bytes_total},
          {"eta", orNull(txn.eta)},
          {"from", place(txn.from_mesh, txn.from_devices)},
          {"to", place(txn.to_mesh, txn.to_devices)},
          {"paused", txn.paused},
          {"can_cancel", txn.can_cancel},
          {"reason", txn.reason}};
}

Json toJson(const engine::ClusterSnapshot& snapshot) {
  Json nodes = Json::array();
  for (const engine::NodeStatus& node : snapshot.nodes) {
    Json devices = Json::array();
    for (const engine::DeviceStatus& device : node.devices)
      devices.push_back({{"name", ptc::ToString(device.id)},
                         {"used", device.used_bytes},
                         {"total", device.total_bytes},
                         {"job", device.job.empty() ? Json(nullptr) : Json(device.job)},
                         {"rank", orNull(device.rank)},
                         {"joining", device.joining},
                         {"failed", device.failed}});
    nodes.push_back({{"name", fmt::format("n{}", node.node)},
                     {"state", engine::ToString(node.state)},
                     {"devices", std::move(devices)},
                     {"last_seen", node.last_seen}});
  }
  Json jobs = Json::array();
  for (const engine::JobStatus& job : snapshot.jobs) jobs.push_back(toJson(job));
  const bool moving = snapshot.transaction && !engine::IsFinal(snapshot.transaction->phase);
  return {{"cluster", snapshot.cluster},
          {"nodes", std::move(nodes)},
          {"jobs", std::move(jobs)},
          {"transaction", moving ? toJson(*snapshot.transaction) : Json(nullptr)},
          {"link", snapshot.link_bytes_per_second}};
}

Json toJson(const engine::PlanSummary& plan) {
  Json peaks = Json::object();
  for (const auto& peak : plan.peak_memory) peaks[ptc::ToString(peak.device)] = peak.bytes;
  Json flows = Json::array();
  for (const engine::FlowStatus& flow : plan.flows)
    flows.push_back({{"source", ptc::ToString(flow.source)},
                     {"destination", ptc::ToString(flow.destination)},
                     {"bytes", flow.bytes_total}});
  return {{"job", plan.job},
          {"from", place(plan.from_mesh, plan.from_devices)},
          {"to", place(plan.to_mesh, plan.to_devices)},
          {"hash", plan.hash},
          {"bytes",
           {{"kept", plan.kept},
            {"device", plan.device},
            {"host", plan.host},
            {"network", plan.network},
            {"snapshot", plan.snapshot},
            {"storage", plan.storage}}},
          {"volume_bound", plan.volume_bound},
          {"busiest_port",
           {{"bytes", plan.busiest_port_bytes}, {"bound", orNull(plan.busiest_port_bound)}}},
          {"idle", toJson(plan.idle)},
          {"peak_memory", std::move(peaks)},
          {"single_source", plan.single_source},
          {"pause_estimate", plan.pause_estimate},
          {"rollback", plan.rollback},
          {"epoch", plan.epoch},
          {"layout_hash", plan.from_layout_hash},
          {"flows", std::move(flows)},
          {"global_batch", plan.global_batch},
          {"why", plan.why}};
}

Json toJson(const engine::HistoryEntry& entry) {
  return {{"id", entry.id},
          {"job", entry.job},
          {"from", entry.from},
          {"to", entry.to},
          {"started", entry.started},
          {"result", entry.result},
          {"phases", entry.phases},
          {"bytes_moved", entry.bytes_moved},
          {"volume_bound", entry.volume_bound},
          {"digest_before", entry.digest_before},
          {"digest_after", entry.digest_after},
          {"pause", entry.pause},
          {"step", entry.step},
          {"epoch", entry.epoch},
          {"reason", entry.reason}};
}

Json toJson(const engine::Sample& sample) {
  return {{"step", sample.step},
          {"loss", sample.loss},
          {"grad_norm", sample.grad_norm},
          {"tokens_per_s", sample.tokens_per_second},
          {"time", sample.time}};
}

Json toJson(const wire::DigestReply& digest) {
  std::map<std::string, std::string> tensors(digest.tensors().begin(), digest.tensors().end());
  return {{"job", digest.job()},   {"epoch", digest.epoch()},   {"timeline", digest.timeline()},
          {"step", digest.step()}, {"digest", digest.digest()}, {"tensors", std::move(tensors)}};
}

void printLine(const Json& json) {
  fmt::print("{}\n", json.dump(-1, ' ', false, Json::error_handler_t::replace));
  std::fflush(stdout);
}

}  // namespace tessera::app
