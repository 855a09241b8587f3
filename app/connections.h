// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The panel's connections: profiles, connection tests, local clusters and history files. Forwards
/// commands to the one that is shown.

#include <QObject>
#include <QPointer>
#include <QTimer>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>

#include "agents/client/cluster.h"
#include "app/history_file.h"
#include "app/task_thread.h"
#include "ui/commands.h"
#include "ui/connections.h"
#include "ui/models/cluster_model.h"

namespace tessera::app {

class Bridge;
class ClusterTest;
struct LocalClusterOptions;

/// Lives on the GUI thread. Commands go to the bridge. While a history file is shown, commands that
/// only read are answered from it and the others are refused.
class AppConnections final : public QObject, public ui::Connections, public ui::ClusterCommands {
  Q_OBJECT

 public:
  /// Both outlive it.
  AppConnections(ui::ClusterModel& model, Bridge& bridge, QObject* parent = nullptr);
  ~AppConnections() override;

  /// Connects to the profile by name or file; empty: the default one.
  /// \error of the profile
  Status open(const std::string& profile);

  QList<ui::ProfileInfo> profiles() override;
  QString current() const override { return m_current; }
  Result<ui::ProfileInfo> parse(const QString& text) override;
  Status add(const ui::ProfileInfo& profile) override;
  Status forget(const QString& name) override;
  Status restore() override;
  void test(const QString& name, std::function<void(ui::AgentTest)> row,
            ui::Connections::Done<void> done) override;
  void cancelTest() override;
  std::optional<QString> mountPoint() override;
  void mount(const QString& folder, bool readOnly, ui::Connections::Done<void> done) override;
  void unmount(const QString& folder, ui::Connections::Done<void> done) override;
  bool isHere(const engine::NodeStatus& node) override;
  Status connectTo(const QString& name) override;
  void closeConnection() override;
  void startLocal(const ui::LocalChoice& choice, std::function<void(QString)> progress,
                  ui::Connections::Done<QString> done) override;
  QList<std::pair<QString, QString>> simulatedHardware() override;
  void startSimulated(const ui::SimulationChoice& choice, std::function<void(QString)> progress,
                      ui::Connections::Done<QString> done) override;
  void stopLocal(const QString& name, ui::Connections::Done<void> done) override;
  ui::StoppedCluster stoppedCluster(const QString& name) override;
  void startAgain(const QString& name, std::function<void(QString)> progress,
                  ui::Connections::Done<QString> done) override;
  QString keyFolder() override;
  Result<QList<ui::KeyInfo>> keys() override;
  Result<ui::KeyInfo> makeKey(const QString& name, const QString& role) override;
  Result<QStringList> revokeKey(const QString& name, const QString& allowedFolder) override;
  void openHistory(const QString& file, ui::Connections::Done<void> done) override;
  void closeHistory() override;

  void plan(const ui::PlanRequest& request,
            ui::ClusterCommands::Done<engine::PlanSummary> done) override;
  void apply(const ui::PlanRequest& request, const QString& planHash, ui::Unrecorded unrecorded,
             ui::ClusterCommands::Done<std::int64_t> done) override;
  void cancel(std::int64_t txn, ui::ClusterCommands::Done<void> done) override;
  void history(ui::ClusterCommands::Done<std::vector<engine::HistoryEntry>> done) override;
  void operate(const QString& panel, ui::OperateAct act,
               ui::ClusterCommands::Done<ui::OperateAnswer> done) override;
  void startJob(const ui::StartRequest& request, ui::ClusterCommands::Done<void> done) override;
  void proposeStart(const ui::StartRequest& request,
                    ui::ClusterCommands::Done<engine::Proposal> done) override;
  void jobAct(const QString& job, ui::JobAct act, ui::ClusterCommands::Done<void> done) override;
  void decide(const QString& job, const ui::LossDecision& decision,
              ui::ClusterCommands::Done<void> done) override;
  void setOnFailure(const QString& job, engine::OnFailure onFailure,
                    ui::ClusterCommands::Done<void> done) override;
  void saveCheckpoint(const QString& job, const QString& folder,
                      ui::ClusterCommands::Done<void> done) override;
  void setSnapshots(const QString& job, engine::SnapshotEvery every,
                    ui::ClusterCommands::Done<void> done) override;
  void samples(const QString& job, std::int64_t afterStep,
               ui::ClusterCommands::Done<std::vector<engine::Sample>> done) override;
  void propose(const QString& job, const std::vector<ptc::DeviceId>& devices,
               ui::ClusterCommands::Done<engine::Proposal> done) override;
  void doctor(ui::ClusterCommands::Done<std::vector<engine::Check>> done) override;
  void states(ui::ClusterCommands::Done<engine::vfs::Jobs> done) override;
  void reconnect() override;
  void stopRequests() override;

 protected:
  void send(const ui::Request& request, std::function<void(const ui::Answer&)> progress,
            ui::ClusterCommands::Done<ui::Answer> done) override;

 private:
  /// Runs `work` on a thread, then `then` on this one. checkNotBusy() fails meanwhile.
  template <typename Outcome>
  void runInBackground(std::function<Outcome()> work, std::function<void(const Outcome&)> then);
  /// Starts the cluster of this machine in the background, as startLocal.
  void startCluster(const LocalClusterOptions& options, std::function<void(QString)> progress,
                    ui::Connections::Done<QString> done);
  void startInBackground(std::function<Result<agents::Profile>()> start,
                         ui::Connections::Done<QString> done);
  /// Shows a file that was read from `path`.
  void show(HistoryFile file, const QString& path);
  /// Whether a cluster is being started or stopped, which this thread must not wait for.
  Status checkNotBusy() const;
  /// Runs tesseractl with these words; what it says is the error if it fails.
  void runCommand(const QStringList& words, ui::Connections::Done<void> done);
  template <typename T>
  void later(ui::ClusterCommands::Done<T> done, Result<T> result);
  static Error onlyAFile();

  ui::ClusterModel& m_model;
  Bridge& m_bridge;
  QString m_current;
  QString m_named;  // as the command line names it: its name, or the full path of its profile
  std::set<std::string> m_addresses;         // of this machine
  std::optional<agents::Profile> m_forgotten;
  QPointer<ClusterTest> m_test;
  std::optional<HistoryFile> m_file;
  std::uint64_t m_shown = 0;  // counts what was chosen to be shown: clusters and files
  TaskThread m_reading;       // of history files
  std::optional<ui::ClusterStop> m_stop;  // of m_current, while its history file is shown
  bool m_isBusy = false;  // m_background works
  std::jthread m_background;
  QTimer m_progress;
};

}  // namespace tessera::app
