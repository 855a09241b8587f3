// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// A cluster's command side for tests of the panel: it records every call and answers later, on the
/// event loop, as the real one does.

#include <QObject>
#include <algorithm>
#include <deque>
#include <functional>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "ui/commands.h"
#include "ui/models/cluster_model.h"

namespace tessera::test {

class SpyCommands : public QObject, public ui::ClusterCommands {
  Q_OBJECT

 public:
  /// `model` is what plans are made for; it outlives the spy.
  explicit SpyCommands(const ui::ClusterModel& model) : m_model(model) {}

  void plan(const ui::PlanRequest& request, Done<engine::PlanSummary> done) override;
  void apply(const ui::PlanRequest& request, const QString& planHash, ui::Unrecorded unrecorded,
             Done<std::int64_t> done) override;
  void cancel(std::int64_t txn, Done<void> done) override;
  void history(Done<std::vector<engine::HistoryEntry>> done) override;
  void operate(const QString& panel, ui::OperateAct act, Done<ui::OperateAnswer> done) override;
  void startJob(const ui::StartRequest& request, Done<void> done) override;
  void proposeStart(const ui::StartRequest& request, Done<engine::Proposal> done) override;
  void jobAct(const QString& job, ui::JobAct act, Done<void> done) override;
  void decide(const QString& job, const ui::LossDecision& decision, Done<void> done) override;
  void setOnFailure(const QString& job, engine::OnFailure onFailure, Done<void> done) override;
  void saveCheckpoint(const QString& job, const QString& folder, Done<void> done) override;
  void setSnapshots(const QString& job, engine::SnapshotEvery every, Done<void> done) override;
  void samples(const QString& job, std::int64_t afterStep,
               Done<std::vector<engine::Sample>> done) override;
  void propose(const QString& job, const std::vector<ptc::DeviceId>& devices,
               Done<engine::Proposal> done) override;
  void doctor(Done<std::vector<engine::Check>> done) override;
  void states(Done<engine::vfs::Jobs> done) override;
  void reconnect() override { ++reconnects; }
  void stopRequests() override { ++stops; }
  /// The requests of one kind, oldest first.
  template <typename R>
  std::vector<R> requestsOf() const {
    std::vector<R> of;
    for (const ui::Request& request : requests) {
      if (const R* one = std::get_if<R>(&request)) of.push_back(*one);
    }
    return of;
  }

  /// Calls that change a cluster.
  int mutations() const {
    return static_cast<int>(applied.size() + cancelled.size() + acts.size() + decided.size() +
                            onFailures.size() + snapshots.size() + checkpoints.size() +
                            started.size() + mutatingRequests());
  }
  /// Requests that change a cluster.
  std::size_t mutatingRequests() const {
    const auto measures = [](const auto& request) { return request.measure; };
    const auto links = requestsOf<ui::LinksRequest>();
    const auto probes = requestsOf<ui::ProbeRequest>();
    return static_cast<std::size_t>(std::ranges::count_if(links, measures) +
                                    std::ranges::count_if(probes, measures)) +
           requestsOf<ui::DigestRequest>().size() + requestsOf<ui::TuneRequest>().size() +
           requestsOf<ui::DeleteCheckpointRequest>().size() +
           requestsOf<ui::LoadCheckpointRequest>().size() +
           requestsOf<ui::ThrottleRequest>().size() + requestsOf<ui::NodeRequest>().size() +
           requestsOf<ui::FailDeviceRequest>().size() + requestsOf<ui::SimulateRequest>().size();
  }
  /// Answers the oldest (or the newest) plan that is held back.
  void releasePlan(bool newest = false);
  /// Ends the start that goes on.
  void releaseStart(const Status& answer);

  std::vector<ui::PlanRequest> planned;
  std::vector<std::pair<ui::PlanRequest, QString>> applied;
  std::vector<std::int64_t> cancelled;
  std::vector<ui::JobAct> acts;
  std::vector<ui::StartRequest> started;
  std::vector<ui::StartRequest> proposedStarts;
  std::vector<std::pair<QString, ui::OperateAct>> operated;  // panel, act
  std::vector<ui::LossDecision> decided;
  std::vector<engine::OnFailure> onFailures;
  std::vector<engine::SnapshotEvery> snapshots;
  std::vector<QString> checkpoints;  // folders
  int reconnects = 0;
  int stops = 0;                      // of requests that run for long
  std::vector<ui::Request> requests;  // of ask(), without those below
  std::vector<ui::CheckMeshRequest> checkedMeshes;
  Result<std::string> meshAnswer = std::string();
  std::vector<engine::Event> nodeEvents;
  /// Answers a request; without it, or where it returns none, requests are not answered.
  std::function<std::optional<Result<ui::Answer>>(const ui::Request&)> requestAnswer;
  /// Of the newest request that is not answered.
  std::function<void(const ui::Answer&)> heldProgress;
  Done<ui::Answer> heldRequest;
  int historyCalls = 0;
  std::vector<std::vector<ptc::DeviceId>> proposed;
  std::vector<std::int64_t> sampled;  // the `afterStep` of each question
  int doctorCalls = 0;
  int stateCalls = 0;

  std::optional<engine::OperatorLease> otherLease;  // of another panel, until it is taken over
  std::vector<engine::HistoryEntry> entries;
  std::function<Result<engine::PlanSummary>(engine::PlanSummary)> adjustPlan;
  Result<std::int64_t> applyAnswer = 7;
  Status cancelAnswer = OkStatus();
  /// Without: candidates of every mesh that uses all devices, by their number of pipeline stages.
  std::function<Result<engine::Proposal>(engine::Proposal)> adjustProposal;
  /// Of a job to start. Without one its start goes on until releaseStart().
  std::optional<Result<void>> startAnswer = {};
  std::function<Result<engine::Proposal>(engine::Proposal)> adjustStart;
  Done<void> heldStart;
  bool holdStarts = false;  // proposals for jobs to start
  std::deque<std::function<void()>> heldStarts;
  std::vector<engine::Sample> recorded;  // ascending; answered in pages of samplesPage
  std::size_t samplesPage = 1000;
  Result<std::vector<engine::Check>> checks = std::vector<engine::Check>();
  Result<engine::vfs::Jobs> jobStates = engine::vfs::Jobs();
  bool holdStates = false;  // they are never answered
  bool holdPlans = false;
  std::deque<std::function<void()>> heldPlans;

 protected:
  void send(const ui::Request& request, std::function<void(const ui::Answer&)> progress,
            Done<ui::Answer> done) override;

 private:
  Result<engine::PlanSummary> makePlan(const ui::PlanRequest& request) const;
  Result<engine::Proposal> makeProposal(const QString& job,
                                        const std::vector<ptc::DeviceId>& devices) const;
  const ui::ClusterModel& m_model;
};

}  // namespace tessera::test
