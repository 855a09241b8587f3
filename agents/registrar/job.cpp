// SPDX-License-Identifier: Apache-2.0
#include "agents/registrar/job.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/store/arena_format.h"
#include "ptc/base/median.h"
#include "ptc/base/short_name.h"

namespace tessera::agents {

bool IsJobName(const std::string& name) { return IsShortName(name); }

std::set<std::int32_t> NodesOf(const std::vector<ptc::DeviceId>& devices,
                               const std::vector<ptc::DeviceId>& lost) {
  std::set<std::int32_t> out;
  for (const ptc::DeviceId device : devices) {
    if (std::find(lost.begin(), lost.end(), device) == lost.end()) out.insert(device.node);
  }
  return out;
}

std::set<std::int32_t> NodesOf(const ptc::DeviceMesh& mesh,
                               const std::vector<ptc::DeviceId>& lost) {
  return NodesOf(mesh.devices(), lost);
}

const std::vector<ptc::DeviceId>& HeldDevices(const Job& job) {
  return job.remains ? job.remains->where.devices() : job.layout.mesh().devices();
}

bool Has(const Job& job, ptc::DeviceId device) {
  return job.layout.mesh().RankOf(device) || (job.remains && job.remains->where.Has(device));
}

std::vector<ptc::DeviceId> AllDevices(const Job& job) {
  std::vector<ptc::DeviceId> out = job.layout.mesh().devices();
  for (const ptc::DeviceId device : HeldDevices(job)) {
    if (!job.layout.mesh().RankOf(device)) out.push_back(device);
  }
  return out;
}

std::set<std::int32_t> NodesOf(const Job& job) { return NodesOf(AllDevices(job), {}); }

bool HasNode(const Job& job, std::int32_t node) {
  return job.layout.mesh().HasNode(node) ||
         (job.remains && std::ranges::any_of(job.remains->where.devices(),
                                             [node](ptc::DeviceId id) { return id.node == node; }));
}

bool IsOn(const Membership::Node& node, const Job& job) {
  return std::any_of(node.devices.begin(), node.devices.end(), [&](const wire::NodeDevice& device) {
    return Has(job, {node.number, device.index()});
  });
}

std::optional<double> MedianStepSeconds(const Job& job) {
  constexpr std::size_t kFewest = 3;  // the first step includes the pause before it
  if (job.step_seconds.size() < kFewest) return std::nullopt;
  return UpperMedian({job.step_seconds.begin(), job.step_seconds.end()});
}

double UsualStepSeconds(const Job& job, std::optional<double> estimate) {
  return MedianStepSeconds(job).value_or(std::max(job.usual_step_seconds, estimate.value_or(0)));
}

std::chrono::milliseconds PauseDeadline(const Job& job, std::int64_t at_step,
                                        std::optional<double> estimate) {
  const double median = UsualStepSeconds(job, estimate);
  const auto ahead = static_cast<double>(std::max<std::int64_t>(0, at_step - job.step));
  constexpr double kLongest = 1e9;  // 31 years, so that the number of milliseconds fits
  const double wanted = std::max(30.0, 10 * median) + 5 * median * ahead;
  const double seconds = wanted < kLongest ? wanted : kLongest;
  return std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000));
}

std::string DataProblem(const Job& job) {
  bool waits = false;
  for (const auto& [node, row] : job.paused_nodes) {
    if (row.request != engine::kRequestNoData) continue;
    waits = true;
    if (!row.reason.empty()) return "data: " + row.reason;
  }
  return waits ? "data: a rank cannot read its samples" : "";
}

Status CheckPausedOrRunning(const Job& job) {
  if (job.state == engine::JobState::kPaused || job.state == engine::JobState::kRunning) {
    return OkStatus();
  }
  return FailedPrecondition(fmt::format("job '{}' is {}", job.name, ToString(job.state)));
}

}  // namespace tessera::agents
