// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Stands between a panel and its cluster, and judges every command that changes the cluster.

#include <QStringList>
#include <functional>
#include <memory>
#include <optional>

#include "ui/commands.h"

namespace tessera::test {

/// Passes everything on. For tests of a panel on a real cluster.
class WatchedCommands final : public ui::ClusterCommands {
 public:
  /// `to` outlives it.
  explicit WatchedCommands(ui::ClusterCommands& to) : m_to(to) {}

  /// Why nothing may change the cluster now; empty: it may. Set before the panel is built.
  std::function<QString()> forbidden;
  /// The commands that were sent although they were forbidden, with the reason.
  QStringList wrong;
  int mutations = 0;

  struct Planned {
    ui::PlanRequest request;
    engine::PlanSummary summary;
  };
  /// The answer of the newest question for a plan; nothing before it, and after a refusal.
  const std::optional<Planned>& planned() const { return m_plans->answer; }

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
  void setSnapshots(const QString& job, engine::SnapshotEvery every, Done<void> done) override;
  void saveCheckpoint(const QString& job, const QString& folder, Done<void> done) override;
  void samples(const QString& job, std::int64_t afterStep,
               Done<std::vector<engine::Sample>> done) override;
  void propose(const QString& job, const std::vector<ptc::DeviceId>& devices,
               Done<engine::Proposal> done) override;
  void doctor(Done<std::vector<engine::Check>> done) override;
  void states(Done<engine::vfs::Jobs> done) override;
  void reconnect() override { m_to.reconnect(); }
  void stopRequests() override { m_to.stopRequests(); }

 protected:
  void send(const ui::Request& request, std::function<void(const ui::Answer&)> progress,
            Done<ui::Answer> done) override;

 private:
  void changes(const char* command);

  struct Plans {
    int asked = 0;
    std::optional<Planned> answer;
  };

  ui::ClusterCommands& m_to;
  std::shared_ptr<Plans> m_plans = std::make_shared<Plans>();  // answers may come after this
};

}  // namespace tessera::test
