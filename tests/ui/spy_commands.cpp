// SPDX-License-Identifier: Apache-2.0
#include "tests/ui/spy_commands.h"

#include <QTimer>
#include <algorithm>

#include "ui/models/start_form.h"

namespace tessera::test {
namespace {
constexpr std::int64_t kSpyMiB = 1 << 20;
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
  if (request.way == ui::MoveWay::InRounds) plan.in_rounds = {std::int64_t{64} << 20, 5, {}};
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
    plan.peak_memory.push_back({device, 118 * kSpyMiB, 512 * kSpyMiB});
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
  if (!plan.flows.empty()) {
    plan.certificate.port = "n0 out";
    plan.certificate.port_bytes = plan.certificate.direct_bound = kPiece;
    plan.certificate.port_seconds = plan.certificate.direct_seconds = 0.2;
    plan.certificate.bandwidths_from = "assumed";
  }
  plan.pause_estimate = 0.42;
  plan.overlap.chosen = true;
  plan.overlap.plain_pause = 1.1;
  plan.overlap.pause = 0.42;
  plan.overlap.gradient_bytes = std::int64_t{13} << 20;
  plan.overlap.why = "The pause is shorter if only gradients move in it.";
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

void SpyCommands::releaseStart(const Status& answer) { heldStart(answer); }

void SpyCommands::apply(const ui::PlanRequest& request, const QString& planHash, ui::Unrecorded,
                        Done<std::int64_t> done) {
  applied.emplace_back(request, planHash);
  QTimer::singleShot(0, this, [this, done = std::move(done)] { done(applyAnswer); });
}

void SpyCommands::cancel(std::int64_t txn, Done<void> done) {
  cancelled.push_back(txn);
  QTimer::singleShot(0, this, [this, done = std::move(done)] { done(cancelAnswer); });
}

void SpyCommands::history(Done<std::vector<engine::HistoryEntry>> done) {
  ++historyCalls;
  QTimer::singleShot(0, this, [this, done = std::move(done)] { done(entries); });
}

void SpyCommands::operate(const QString& panel, ui::OperateAct act, Done<ui::OperateAnswer> done) {
  operated.emplace_back(panel, act);
  if (act == ui::OperateAct::TakeOver) otherLease.reset();
  ui::OperateAnswer answer{.granted = !otherLease && act != ui::OperateAct::Release,
                           .lease = otherLease};
  QTimer::singleShot(0, this, [done = std::move(done), answer] { done(answer); });
}

void SpyCommands::startJob(const ui::StartRequest& request, Done<void> done) {
  started.push_back(request);
  if (!startAnswer) {
    heldStart = std::move(done);
    return;
  }
  QTimer::singleShot(0, this, [done = std::move(done), answer = *startAnswer] { done(answer); });
}

// Every mesh of the number of GPUs that the trainer could cut; the more is cut, the slower and the
// smaller.
void SpyCommands::proposeStart(const ui::StartRequest& request, Done<engine::Proposal> done) {
  proposedStarts.push_back(request);
  engine::Proposal proposal;
  proposal.job = request.name.toStdString();
  const std::vector<ptc::DeviceId> devices =
      request.devices.empty() ? ui::idleDevices(m_model.snapshot()) : request.devices;
  const std::vector<std::pair<std::int64_t, std::int64_t>> cuts = {{1, 4}, {1, 2}, {2, 2},
                                                                   {1, 1}, {2, 1}, {4, 1}};
  for (const auto& [tp, pp] : cuts) {
    const auto count = std::ssize(devices);
    if (count % (tp * pp) != 0) continue;
    engine::Candidate candidate;
    candidate.mesh[ptc::Axis::kDp] = count / (tp * pp);
    candidate.mesh[ptc::Axis::kTp] = tp;
    candidate.mesh[ptc::Axis::kPp] = pp;
    if (tp == 1 && pp > 1) candidate.options.micro_batch = 4;
    candidate.devices = devices;
    candidate.step_seconds = 0.31 + 0.03 * static_cast<double>(proposal.candidates.size());
    candidate.peak_bytes = kSpyMiB * 52 / (tp * pp);
    candidate.capacity = 512 * kSpyMiB;
    candidate.recommended = proposal.candidates.empty();
    proposal.candidates.push_back(std::move(candidate));
  }
  proposal.why = "fastest by estimate.";
  auto answer = [done = std::move(done),
                 result = adjustStart
                              ? adjustStart(std::move(proposal))
                              : Result<engine::Proposal>(std::move(proposal))] { done(result); };
  if (holdStarts) {
    heldStarts.push_back(std::move(answer));
  } else {
    QTimer::singleShot(0, this, std::move(answer));
  }
}

void SpyCommands::jobAct(const QString&, ui::JobAct act, Done<void> done) {
  acts.push_back(act);
  QTimer::singleShot(0, this, [done = std::move(done)] { done(OkStatus()); });
}

void SpyCommands::decide(const QString&, const ui::LossDecision& decision, Done<void> done) {
  decided.push_back(decision);
  QTimer::singleShot(0, this, [done = std::move(done)] { done(OkStatus()); });
}

void SpyCommands::setOnFailure(const QString&, engine::OnFailure onFailure, Done<void> done) {
  onFailures.push_back(onFailure);
  QTimer::singleShot(0, this, [done = std::move(done)] { done(OkStatus()); });
}

void SpyCommands::setSnapshots(const QString&, engine::SnapshotEvery every, Done<void> done) {
  snapshots.push_back(every);
  QTimer::singleShot(0, this, [done = std::move(done)] { done(OkStatus()); });
}

void SpyCommands::saveCheckpoint(const QString&, const QString& folder, Done<void> done) {
  checkpoints.push_back(folder);
  QTimer::singleShot(0, this, [done = std::move(done)] { done(OkStatus()); });
}

void SpyCommands::samples(const QString& job, std::int64_t afterStep,
                          Done<std::vector<engine::Sample>> done) {
  sampled.push_back(afterStep);
  std::vector<engine::Sample> page;
  for (const engine::Sample& sample : recorded) {
    if (page.size() == samplesPage) break;
    if (sample.step > afterStep && sample.job == job.toStdString()) page.push_back(sample);
  }
  QTimer::singleShot(0, this, [done = std::move(done), page = std::move(page)] { done(page); });
}

// A step takes the longer the more its work is cut, and the move costs what no longer stays.
Result<engine::Proposal> SpyCommands::makeProposal(
    const QString& name, const std::vector<ptc::DeviceId>& devices) const {
  const engine::JobStatus* job = m_model.findJob(name.toStdString());
  if (job == nullptr) return NotFound("job '" + name.toStdString() + "' does not exist");
  engine::Proposal proposal;
  proposal.job = job->name;
  const auto count = static_cast<std::int64_t>(devices.size());
  for (std::int64_t pp = 1; pp <= 4; pp *= 2) {
    for (std::int64_t tp = 1; tp <= 4; tp *= 2) {
      if (count % (tp * pp) != 0) continue;
      engine::Candidate candidate;
      candidate.mesh[ptc::Axis::kDp] = count / (tp * pp);
      candidate.mesh[ptc::Axis::kTp] = tp;
      candidate.mesh[ptc::Axis::kPp] = pp;
      candidate.options.zero = tp * pp == 1;
      candidate.devices = devices;
      candidate.step_seconds =
          0.28 * 8.0 / static_cast<double>(count) *
          (1 + 0.09 * static_cast<double>(tp - 1) + 0.16 * static_cast<double>(pp - 1));
      candidate.moved_bytes = tp == job->mesh[ptc::Axis::kTp] && pp == job->mesh[ptc::Axis::kPp]
                                  ? 4 * kPiece
                                  : kPiece * (3 + 4 * pp + (tp == 1 ? 6 : 1));
      candidate.pause_seconds = 0.1 + static_cast<double>(candidate.moved_bytes) / 120e6;
      candidate.peak_bytes = kSpyMiB * (tp * pp == 1   ? 486
                                        : tp * pp == 2 ? 236 + 230 * (pp - 1)
                                                       : 118);
      candidate.capacity = 512 * kSpyMiB;
      candidate.current = candidate.mesh == job->mesh && devices == job->devices;
      proposal.candidates.push_back(std::move(candidate));
    }
  }
  std::stable_sort(proposal.candidates.begin(), proposal.candidates.end(),
                   [](const auto& a, const auto& b) {
                     if (a.fits() != b.fits()) return a.fits();
                     return a.step_seconds + a.pause_seconds < b.step_seconds + b.pause_seconds;
                   });
  if (!proposal.candidates.empty() && proposal.candidates.front().fits()) {
    proposal.candidates.front().recommended = true;
    proposal.why = "within 3 % of the fastest step and a third of its bytes.";
  }
  return adjustProposal ? adjustProposal(std::move(proposal))
                        : Result<engine::Proposal>(std::move(proposal));
}

void SpyCommands::propose(const QString& job, const std::vector<ptc::DeviceId>& devices,
                          Done<engine::Proposal> done) {
  proposed.push_back(devices);
  QTimer::singleShot(
      0, this, [done = std::move(done), result = makeProposal(job, devices)] { done(result); });
}

void SpyCommands::doctor(Done<std::vector<engine::Check>> done) {
  ++doctorCalls;
  QTimer::singleShot(0, this, [this, done = std::move(done)] { done(checks); });
}

void SpyCommands::states(Done<engine::vfs::Jobs> done) {
  ++stateCalls;
  if (holdStates) return;
  QTimer::singleShot(0, this, [this, done = std::move(done)] { done(jobStates); });
}

void SpyCommands::send(const ui::Request& request, std::function<void(const ui::Answer&)> progress,
                       Done<ui::Answer> done) {
  if (std::holds_alternative<ui::NodeEventsRequest>(request)) {  // the window asks that by itself
    QTimer::singleShot(0, this, [this, done = std::move(done)] { done(ui::Answer(nodeEvents)); });
    return;
  }
  if (const auto* check = std::get_if<ui::CheckMeshRequest>(&request)) {  // so does a draft
    checkedMeshes.push_back(*check);
    QTimer::singleShot(0, this, [done = std::move(done), said = meshAnswer] {
      done(said ? Result<ui::Answer>(ui::Answer(*said)) : Result<ui::Answer>(said.error()));
    });
    return;
  }
  requests.push_back(request);
  auto result = requestAnswer ? requestAnswer(request) : std::nullopt;
  if (!result) {
    heldProgress = std::move(progress);
    heldRequest = std::move(done);
    return;
  }
  QTimer::singleShot(0, this,
                     [done = std::move(done), result = std::move(*result)] { done(result); });
}

}  // namespace tessera::test
