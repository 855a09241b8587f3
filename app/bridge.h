// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// Connects the cluster client, which has a thread of its own, with the panel. Snapshots become
/// queued calls of the model's slots; commands become requests. Nothing here blocks the GUI thread.

#include <QObject>
#include <QString>
#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "agents/client/cluster.h"
#include "app/closing_thread.h"
#include "app/commands/session.h"
#include "app/commands/start_request.h"
#include "app/history_mirror.h"
#include "app/task_thread.h"
#include "ui/commands.h"
#include "ui/models/cluster_model.h"

namespace tessera::app {

/// What scripts have, so that a script is not run again as long as its file stays the same. For one
/// thread.
class KnownScripts {
 public:
  /// \error as describeScript
  Result<DescribedScript> describe(const Script& script, std::stop_token stop);

 private:
  struct Known {
    Script script;
    std::filesystem::file_time_type written;
    DescribedScript described;
  };
  std::optional<Known> m_last;
};

/// Lives on the GUI thread. The callbacks of all commands run there as well.
class Bridge final : public QObject, public ui::ClusterCommands {
  Q_OBJECT

 public:
  /// `model` outlives the bridge.
  explicit Bridge(ui::ClusterModel& model, QObject* parent = nullptr);
  ~Bridge() override;

  /// Reads the profile (by name or file; empty: the default one) and starts to connect. From then
  /// on the model receives every change of the link.
  /// \error of the profile or its keys; the model then shows no cluster
  Status open(const std::string& profile);
  /// Disconnects. The model keeps its contents and receives nothing more; the next open() starts
  /// with a fresh snapshot.
  void close();
  /// The profile of the cluster that is open, as it was read last; nullopt: none is.
  const std::optional<agents::Profile>& profile() const { return m_opened; }

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
  void reconnect() override;
  void stopRequests() override;

  /// Switches the panel's copy of the cluster's history on or off and limits its size.
  void setMirror(bool on, const engine::Retention& retention);
  /// That copy; null before the first open() and while it is switched off.
  HistoryMirror* mirror() const { return m_mirror.get(); }

  /// Waits until all requests are answered, so that what a closing panel sends is not lost with its
  /// connection.
  void waitForAnswers(std::chrono::milliseconds most);

  /// Kills a node of an emulated cluster, for the demo.
  void killNode(std::int32_t node, Done<void> done);

 protected:
  void send(const ui::Request& request, std::function<void(const ui::Answer&)> progress,
            Done<ui::Answer> done) override;

 private:
  template <typename T>
  using Reader = std::function<Result<T>(const wire::Reply&)>;

  /// Sends `request`. Later, on this thread, calls `done` with what `read` returns for the reply.
  template <typename T>
  void call(wire::Request request, std::chrono::milliseconds timeout, Done<T> done, Reader<T> read);
  /// Reads `request` as the command line does, on a thread of its own because it may run a script.
  /// Later, on this thread, calls `then`. A script that an earlier request still runs is ended.
  void readStart(const ui::StartRequest& request,
                 std::function<void(Result<wire::StartJobRequest>)> then);
  void onLink(agents::LinkState state, const std::string& detail);
  /// Clears the model if the cluster was started anew since the last connection.
  void onIncarnation(const std::string& incarnation);
  void onEvent(const engine::Event& event);
  /// Connects again if the profile leads elsewhere now: `up` gives a cluster that was stopped other
  /// ports and keys.
  void followProfile();
  void letGo();
  /// Starts to copy the history of that cluster.
  void mirrorHistory(const std::string& cluster);
  /// Shows in the model why the history is not recorded, if so.
  void showProblem();

  ui::ClusterModel& m_model;
  std::string m_profile;                    // as it was named; resolved in m_opened
  std::optional<agents::Profile> m_opened;  // the cluster that all requests are about
  std::unique_ptr<agents::ClusterClient> m_client;
  ClosingThread m_closing;  // destroys previous clients
  bool m_mirrorIsOn = true;
  engine::Retention m_retention;
  std::unique_ptr<HistoryMirror> m_mirror;
  KnownScripts m_scripts;     // used on the thread of m_reading
  std::stop_source m_reader;  // of the newest request
  TaskThread m_reading;
  // Requests that take several messages. Each thread carries out its requests in the order in which
  // they were sent. There is no order between the two threads, nor between them and requests of one
  // message: the registrar refuses what conflicts with a tuning, and the others need no tuning.
  TaskThread m_working;         // those of seconds
  std::stop_source m_tuneStop;  // of those on the next thread
  TaskThread m_tuning;          // those of minutes and hours
  std::uint64_t m_connection = 0;
  std::int64_t m_lastEvent = 0;
  std::string m_incarnation;  // of the cluster in the model; empty: not known yet
  int m_unanswered = 0;       // requests
};

}  // namespace tessera::app
