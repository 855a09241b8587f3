// SPDX-License-Identifier: Apache-2.0
#include "tests/e2e/watched_commands.h"

#include <utility>
#include <variant>

#include "ptc/base/overloaded.h"

namespace tessera::test {
namespace {

/// The name of a request that changes the cluster, or stops its jobs for a moment; else null.
const char* NameOfChange(const ui::Request& request) {
  using Name = const char*;
  return std::visit(
      Overloaded{
          [](const ui::LinksRequest& links) -> Name { return links.measure ? "links" : nullptr; },
          [](const ui::ProbeRequest& probe) -> Name { return probe.measure ? "probe" : nullptr; },
          [](const ui::LogRequest&) -> Name { return nullptr; },
          [](const ui::CheckpointsRequest&) -> Name { return nullptr; },
          [](const ui::RegistrarRequest&) -> Name { return nullptr; },
          [](const ui::ScenarioRequest&) -> Name { return nullptr; },
          [](const ui::CheckMeshRequest&) -> Name { return nullptr; },
          [](const ui::NodeEventsRequest&) -> Name { return nullptr; },
          [](const ui::DigestRequest&) -> Name { return "digest"; },
          [](const ui::TuneRequest&) -> Name { return "tune"; },
          [](const ui::DeleteCheckpointRequest&) -> Name { return "delete a checkpoint"; },
          [](const ui::LoadCheckpointRequest&) -> Name { return "load a checkpoint"; },
          [](const ui::ThrottleRequest&) -> Name { return "throttle"; },
          [](const ui::NodeRequest&) -> Name { return "node"; },
          [](const ui::FailDeviceRequest&) -> Name { return "fail a device"; },
          [](const ui::SimulateRequest&) -> Name { return "simulate"; },
      },
      request);
}

}  // namespace

void WatchedCommands::changes(const char* command) {
  ++mutations;
  const QString reason = forbidden ? forbidden() : QString();
  if (!reason.isEmpty())
    wrong << QStringLiteral("the panel sent '%1' although %2").arg(QLatin1String(command), reason);
}

void WatchedCommands::plan(const ui::PlanRequest& request, Done<engine::PlanSummary> done) {
  m_plans->answer.reset();
  m_to.plan(request, [plans = m_plans, asked = ++m_plans->asked, request,
                      done = std::move(done)](Result<engine::PlanSummary> result) {
    if (result && asked == plans->asked) plans->answer = Planned{request, *result};
    done(std::move(result));
  });
}

void WatchedCommands::apply(const ui::PlanRequest& request, const QString& planHash,
                            ui::Unrecorded unrecorded, Done<std::int64_t> done) {
  changes("apply");
  const auto& newest = planned();
  if (!newest || newest->request != request || newest->summary.hash != planHash.toStdString())
    wrong << QStringLiteral("the panel applied plan %1, which is not the newest").arg(planHash);
  m_to.apply(request, planHash, unrecorded, std::move(done));
}

void WatchedCommands::cancel(std::int64_t txn, Done<void> done) {
  changes("cancel");
  m_to.cancel(txn, std::move(done));
}

void WatchedCommands::history(Done<std::vector<engine::HistoryEntry>> done) {
  m_to.history(std::move(done));
}

// A lease refuses nothing: it only shows operators each other.
void WatchedCommands::operate(const QString& panel, ui::OperateAct act,
                              Done<ui::OperateAnswer> done) {
  m_to.operate(panel, act, std::move(done));
}

void WatchedCommands::startJob(const ui::StartRequest& request, Done<void> done) {
  changes("start a job");
  m_to.startJob(request, std::move(done));
}

void WatchedCommands::proposeStart(const ui::StartRequest& request, Done<engine::Proposal> done) {
  m_to.proposeStart(request, std::move(done));
}

void WatchedCommands::jobAct(const QString& job, ui::JobAct act, Done<void> done) {
  changes("pause, resume or stop");
  m_to.jobAct(job, act, std::move(done));
}

void WatchedCommands::decide(const QString& job, const ui::LossDecision& decision,
                             Done<void> done) {
  changes("decide");
  m_to.decide(job, decision, std::move(done));
}

void WatchedCommands::setOnFailure(const QString& job, engine::OnFailure onFailure,
                                   Done<void> done) {
  changes("set the policy");
  m_to.setOnFailure(job, onFailure, std::move(done));
}

void WatchedCommands::setSnapshots(const QString& job, engine::SnapshotEvery every,
                                   Done<void> done) {
  changes("set snapshots");
  m_to.setSnapshots(job, every, std::move(done));
}

void WatchedCommands::saveCheckpoint(const QString& job, const QString& folder, Done<void> done) {
  changes("save a checkpoint");
  m_to.saveCheckpoint(job, folder, std::move(done));
}

void WatchedCommands::samples(const QString& job, std::int64_t afterStep,
                              Done<std::vector<engine::Sample>> done) {
  m_to.samples(job, afterStep, std::move(done));
}

void WatchedCommands::propose(const QString& job, const std::vector<ptc::DeviceId>& devices,
                              Done<engine::Proposal> done) {
  m_to.propose(job, devices, std::move(done));
}

void WatchedCommands::doctor(Done<std::vector<engine::Check>> done) {
  m_to.doctor(std::move(done));
}

void WatchedCommands::states(Done<engine::vfs::Jobs> done) { m_to.states(std::move(done)); }

void WatchedCommands::send(const ui::Request& request,
                           std::function<void(const ui::Answer&)> progress, Done<ui::Answer> done) {
  if (const char* name = NameOfChange(request)) changes(name);
  forward(m_to, request, std::move(progress), std::move(done));
}

}  // namespace tessera::test
