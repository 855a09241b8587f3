// SPDX-License-Identifier: Apache-2.0
#include "tests/ui/spy_commands.h"

#include <QTimer>
#include <algorithm>

namespace tessera::test {
namespace {
constexpr std::int64_t kMiB = 1 << 20;
constexpr std::int64_t kPiece = 9'856'614;  // 9.4 MiB
}  // namespace

// The same tensor degree and as much data parallelism as fits; one piece goes to every joiner.
Result<engine::PlanSummary> SpyCommands::makePlan(const ui::PlanRequest& request) const {
  const engine::JobStatus* job = m_model.findJob(request.job.toStdString());
  if (job == nullptr) return NotFound("job '" + request.job.toStdString() + "' does not exist");
  engine::PlanSummary plan;
  plan.job = job->name;
  plan.epoch = job->epoch;
  plan.from_layout_hash = job->layout_hash;
  plan.from_mesh = job->mesh;
  plan.from_devices = job->devices;
  plan.global_batch = job->global_batch;
  plan.to_devices = request.devices;
  if (request.mesh) {
    plan.to_mesh = *request.mesh;
  } else {
    plan.to_mesh = job->mesh;
    const std::int64_t others = job->mesh[ptc::Axis::kTp] * job->mesh[ptc::Axis::kPp];
    const auto count = static_cast<std::int64_t>(request.devices.size());
    if (count < others) {
      return InvalidArgument("tp = " + std::to_string(others) + " needs at least " +
                             std::to_string(others) + " devices, given " + std::to_string(count));
    }
    plan.to_mesh[ptc::Axis::kDp] = count / others;
    const auto used = static_cast<std::size_t>(plan.to_mesh.num_ranks());
    plan.idle.assign(plan.to_devices.begin() + static_cast<std::ptrdiff_t>(used),
                     plan.to_devices.end());
    plan.to_devices.resize(used);
    plan.why = "tp stays at " + std::to_string(job->mesh[ptc::Axis::kTp]) +
               ", and dp is the largest that divides the batch.";
  }
  std::size_t next = 0;
  for (const ptc::DeviceId device : plan.to_devices) {
    plan.peak_memory.push_back({device, 118 * kMiB, 512 * kMiB});
    const auto& from = plan.from_devices;
    if (std::find(from.begin(), from.end(), device) != from.end()) continue;
    engine::FlowStatus flow;
    flow.source = from[next++ % from.size()];
    flow.destination = device;
    flow.bytes_total = kPiece;
    plan.flows.push_back(flow);
    plan.network += kPiece;
  }
  plan.kept = 4 * kPiece;
  plan.volume_bound = plan.network;
  plan.busiest_port_bytes = plan.flows.empty() ? 0 : kPiece;
  plan.busiest_port_bound = plan.busiest_port_bytes;
  plan.pause_estimate = 0.42;
  plan.hash = "plan" + std::to_string(planned.size());
  return adjustPlan ? adjustPlan(std::move(plan)) : Result<engine::PlanSummary>(std::move(plan));
}

void SpyCommands::plan(const ui::PlanRequest& request, Done<engine::PlanSummary> done) {
  planned.push_back(request);
  auto answer = [done = std::move(done), result = makePlan(request)] { done(result); };
  if (holdPlans) {
    heldPlans.push_back(std::move(answer));
  } else {
    QTimer::singleShot(0, this, std::move(answer));
  }
}

void SpyCommands::releasePlan(bool newest) {
  auto answer = newest ? std::move(heldPlans.back()) : std::move(heldPlans.front());
  if (newest) {
    heldPlans.pop_back();
  } else {
    heldPlans.pop_front();
  }
  answer();
}

void SpyCommands::apply(const ui::PlanRequest& request, const QString& planHash,
                        Done<std::int64_t> done) {
  applied.emplace_back(request, planHash);
  QTimer::singleShot(0, this, [this, done = std::move(done)] { done(applyAnswer); });
}

void SpyCommands::cancel(std::int64_t txn, Done<void> done) {
  cancelled.push_back(txn);
  QTimer::singleShot(0, this, [done = std::move(done)] { done(OkStatus()); });
}

void SpyCommands::history(Done<std::vector<engine::HistoryEntry>> done) {
  ++historyCalls;
  QTimer::singleShot(0, this, [this, done = std::move(done)] { done(entries); });
}

void SpyCommands::jobAct(const QString&, ui::JobAct act, Done<void> done) {
  acts.push_back(act);
  QTimer::singleShot(0, this, [done = std::move(done)] { done(OkStatus()); });
}

void SpyCommands::samples(const QString&, std::int64_t, Done<std::vector<engine::Sample>> done) {
  QTimer::singleShot(0, this, [done = std::move(done)] { done(std::vector<engine::Sample>()); });
}

}  // namespace tessera::test
