// SPDX-License-Identifier: Apache-2.0
#include "agents/registrar/node_claims.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>

#include "agents/wire/convert.h"
#include "agents/wire/tessera/wire/node.pb.h"
#include "engine/cluster/metrics.h"

namespace tessera::agents {
namespace {

constexpr std::int32_t kMostDevices = 1024;  // as of agent.json
constexpr int kMostLanes = 256;
constexpr int kMostFlows = 100'000;
constexpr int kMostRows = 4096;  // of other lists
constexpr std::size_t kLongestPath = 256;
constexpr std::size_t kLongestText = 4096;                  // names, paths and addresses
constexpr std::size_t kLongestReason = 1 << 16;             // what ranks print
constexpr std::int64_t kMostBytes = std::int64_t{1} << 50;  // sums of many do not overflow
constexpr std::int64_t kMostSteps = std::int64_t{1} << 50;

Status CheckRange(std::string_view what, std::int64_t value, std::int64_t most) {
  if (value >= 0 && value <= most) return OkStatus();
  return InvalidArgument(fmt::format("{} {} is not from 0 to {}", what, value, most));
}

Status CheckBytes(std::string_view what, std::int64_t value) {
  return CheckRange(what, value, kMostBytes);
}

Status CheckText(std::string_view what, const std::string& text,
                 std::size_t longest = kLongestText) {
  if (text.size() <= longest) return OkStatus();
  return InvalidArgument(
      fmt::format("{} has {} bytes, {} are allowed", what, text.size(), longest));
}

Status CheckReason(const std::string& text) { return CheckText("reason", text, kLongestReason); }

Status CheckCount(std::string_view what, int count, int most) {
  if (count <= most) return OkStatus();
  return InvalidArgument(fmt::format("{} {}, {} are allowed", count, what, most));
}

Status CheckSeconds(std::string_view what, double seconds) {
  if (std::isfinite(seconds)) return OkStatus();
  return InvalidArgument(fmt::format("{} {} is not finite", what, seconds));
}

using Devices = google::protobuf::RepeatedPtrField<wire::NodeDevice>;

Status Check(const Devices& devices) {
  TESSERA_RETURN_IF_ERROR(CheckCount("GPUs", devices.size(), kMostDevices));
  std::int32_t least = 0;
  for (const wire::NodeDevice& device : devices) {
    if (device.index() < least || device.index() >= kMostDevices) {
      return InvalidArgument(
          fmt::format("GPU {} is not from {} to {}", device.index(), least, kMostDevices - 1));
    }
    least = device.index() + 1;
    TESSERA_RETURN_IF_ERROR(CheckBytes("capacity", device.capacity()));
    TESSERA_RETURN_IF_ERROR(CheckBytes("used", device.used()));
    TESSERA_RETURN_IF_ERROR(CheckText("job", device.job()));
    TESSERA_RETURN_IF_ERROR(CheckText("arena_path", device.arena_path(), kLongestPath));
    TESSERA_RETURN_IF_ERROR(CheckSeconds("busy_seconds", device.busy_seconds()));
    for (const std::int64_t step :
         {device.begin(), device.end(), device.grads_step(), device.decision().step()}) {
      TESSERA_RETURN_IF_ERROR(CheckRange("step", step, kMostSteps));
    }
    if (device.busy_seconds() < 0) {
      return InvalidArgument(fmt::format("busy_seconds {} is below 0", device.busy_seconds()));
    }
  }
  return OkStatus();
}

using Jobs = google::protobuf::RepeatedPtrField<wire::NodeJob>;

Status Check(const Jobs& jobs) {
  TESSERA_RETURN_IF_ERROR(CheckCount("jobs", jobs.size(), kMostRows));
  for (const wire::NodeJob& row : jobs) {
    TESSERA_RETURN_IF_ERROR(CheckText("job", row.job()));
    TESSERA_RETURN_IF_ERROR(CheckRange("step", row.step(), kMostSteps));
    TESSERA_RETURN_IF_ERROR(CheckReason(row.reason()));
  }
  return OkStatus();
}

using Snapshots = google::protobuf::RepeatedPtrField<wire::HeldSnapshot>;

Status Check(const Snapshots& snapshots) {
  TESSERA_RETURN_IF_ERROR(CheckCount("snapshots", snapshots.size(), kMostRows));
  for (const wire::HeldSnapshot& share : snapshots) {
    TESSERA_RETURN_IF_ERROR(CheckBytes("snapshot", share.bytes()));
    TESSERA_RETURN_IF_ERROR(CheckText("snapshot path", share.path()));
  }
  return OkStatus();
}

Status Check(const wire::Register& m) {
  for (const std::string* text :
       {&m.host(), &m.rack(), &m.address(), &m.version(), &m.machine(), &m.gpu(), &m.gpu_driver(),
        &m.nccl(), &m.public_key(), &m.transaction_job()}) {
    TESSERA_RETURN_IF_ERROR(CheckText("a name", *text));
  }
  TESSERA_RETURN_IF_ERROR(CheckCount("lanes", m.lanes_size(), kMostLanes));
  for (const std::string& lane : m.lanes())
    TESSERA_RETURN_IF_ERROR(CheckText("lane", lane, kLongestPath));
  TESSERA_RETURN_IF_ERROR(Check(m.jobs()));
  TESSERA_RETURN_IF_ERROR(CheckBytes("link_bytes_per_second", m.link_bytes_per_second()));
  TESSERA_RETURN_IF_ERROR(Check(m.snapshots()));
  return Check(m.devices());
}

Status Check(const wire::Heartbeat& m) {
  TESSERA_RETURN_IF_ERROR(CheckBytes("view_bytes", m.view_bytes()));
  TESSERA_RETURN_IF_ERROR(CheckBytes("memory_available", m.memory_available()));
  TESSERA_RETURN_IF_ERROR(Check(m.jobs()));
  TESSERA_TRY(const engine::NetworkFaults network, Decode(m.network()));
  static_cast<void>(network);
  TESSERA_RETURN_IF_ERROR(Check(m.snapshots()));
  return Check(m.devices());
}

Status Check(const wire::StepReport& m) {
  TESSERA_RETURN_IF_ERROR(CheckRange("step", m.step(), kMostSteps));
  TESSERA_RETURN_IF_ERROR(CheckRange("tokens", m.tokens(), kMostSteps));
  TESSERA_RETURN_IF_ERROR(CheckSeconds("seconds", m.seconds()));
  TESSERA_RETURN_IF_ERROR(engine::CheckMetrics({m.metrics().begin(), m.metrics().end()}));
  return CheckSeconds("time", m.time());
}

Status Check(const wire::TxnProgress& m) {
  TESSERA_RETURN_IF_ERROR(CheckBytes("storage_done", m.storage_done()));
  TESSERA_RETURN_IF_ERROR(CheckBytes("gradients_done", m.gradients_done()));
  TESSERA_RETURN_IF_ERROR(CheckCount("flows", m.flows_size(), kMostFlows));
  for (const wire::FlowInfo& flow : m.flows()) {
    TESSERA_RETURN_IF_ERROR(CheckBytes("bytes_done", flow.bytes_done()));
  }
  return OkStatus();
}

Status Check(const wire::SaveReport& m) {
  TESSERA_RETURN_IF_ERROR(CheckBytes("done", m.done()));
  TESSERA_RETURN_IF_ERROR(CheckBytes("total", m.total()));
  TESSERA_RETURN_IF_ERROR(CheckCount("files", m.files_size(), kMostRows));
  for (const wire::SavedFile& file : m.files()) {
    TESSERA_RETURN_IF_ERROR(CheckBytes("file", file.bytes()));
    TESSERA_RETURN_IF_ERROR(CheckText("file name", file.name()));
  }
  return OkStatus();
}

}  // namespace

Status CheckClaims(const wire::FromNode& message) {
  switch (message.body_case()) {
    case wire::FromNode::kRegister:
      return Check(message.register_());
    case wire::FromNode::kHeartbeat:
      return Check(message.heartbeat());
    case wire::FromNode::kStep:
      return Check(message.step());
    case wire::FromNode::kProgress:
      return Check(message.progress());
    case wire::FromNode::kSave:
      return Check(message.save());
    case wire::FromNode::kJobPaused:
      TESSERA_RETURN_IF_ERROR(CheckReason(message.job_paused().reason()));
      return CheckRange("step", message.job_paused().step(), kMostSteps);
    case wire::FromNode::kJobReady:
      return CheckReason(message.job_ready().reason());
    case wire::FromNode::kRankExited:
      return CheckReason(message.rank_exited().reason());
    case wire::FromNode::kTxn:
      TESSERA_RETURN_IF_ERROR(CheckReason(message.txn().reason()));
      TESSERA_RETURN_IF_ERROR(CheckBytes("checksums", message.txn().checksums_equal()));
      TESSERA_RETURN_IF_ERROR(CheckRange("step", message.txn().pending().step(), kMostSteps));
      TESSERA_RETURN_IF_ERROR(CheckSeconds("kept_seconds", message.txn().kept_seconds()));
      return CheckRange("step", message.txn().step(), kMostSteps);
    case wire::FromNode::kView:
      return CheckBytes("bytes", message.view().bytes());
    case wire::FromNode::kCannotRun:
      return CheckReason(message.cannot_run().reason());
    case wire::FromNode::kEvent:
      return CheckText("event", message.event().text(), kLongestReason);
    default:
      return OkStatus();  // its numbers are compared with known ones, and not shown
  }
}

}  // namespace tessera::agents
