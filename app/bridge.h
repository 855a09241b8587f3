// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// Between the cluster client, which has a thread of its own, and the panel: snapshots become
/// queued calls of the model's slots, commands become requests. Nothing here waits on the GUI
/// thread.

#include <QObject>
#include <QString>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "agents/client/cluster.h"
#include "app/commands/session.h"
#include "app/history_mirror.h"
#include "ui/commands.h"
#include "ui/models/cluster_model.h"

namespace tessera::app {

/// Lives on the GUI thread, and so do the callbacks of all commands.
class Bridge final : public QObject, public ui::ClusterCommands {
  Q_OBJECT

 public:
  /// `model` outlives the bridge.
  explicit Bridge(ui::ClusterModel& model, QObject* parent = nullptr);
  ~Bridge() override;

  /// Reads the profile (by name or file; empty: the default one) and starts to connect. The model
  /// hears of every change of the link from then on. \error of the profile or its keys; the model
  /// then shows no cluster.
  Status open(const std::string& profile);
  /// Lets the cluster go. The model keeps what it has, and hears no more; what comes after the next
  /// open() is told from the beginning.
  void close();

  void plan(const ui::PlanRequest& request, Done<engine::PlanSummary> done) override;
  void apply(const ui::PlanRequest& request, const QString& planHash, ui::Unrecorded unrecorded,
             Done<std::int64_t> done) override;
  void cancel(std::int64_t txn, Done<void> done) override;
  void history(Done<std::vector<engine::HistoryEntry>> done) override;
  void jobAct(const QString& job, ui::JobAct act, Done<void> done) override;
  void samples(const QString& job, std::int64_t afterStep,
               Done<std::vector<engine::Sample>> done) override;
  void propose(const QString& job, const std::vector<ptc::DeviceId>& devices,
               Done<engine::Proposal> done) override;
  void doctor(Done<std::vector<engine::Check>> done) override;
  void states(Done<engine::vfs::Jobs> done) override;
  void reconnect() override;

  /// Whether this panel keeps a copy of the cluster's history, and how large it may grow.
  void setMirror(bool on, const engine::Retention& retention);
  /// That copy; null before the first open() and where there is to be none.
  HistoryMirror* mirror() const { return m_mirror.get(); }

  /// Kills a node of an emulated cluster: the demo's fault.
  void killNode(std::int32_t node, Done<void> done);

 private:
  template <typename T>
  using Reader = std::function<Result<T>(const wire::Reply&)>;

  /// Sends, and calls `done` later on this thread with what `read` makes of the reply.
  template <typename T>
  void ask(wire::Request request, std::chrono::milliseconds timeout,
           Done<T> done, Reader<T> read);
  void onLink(agents::LinkState state, const std::string& detail);
  void onEvent(const engine::Event& event);
  /// Fetches the events that were written before this connection.
  void fetchEvents();
  void letGo();
  /// Follows the history of that cluster in a file of this panel's.
  void mirrorHistory(const std::string& cluster);
  /// Tells the model why what happens is not recorded, if so.
  void showProblem();

  ui::ClusterModel& m_model;
  std::string m_profile;
  std::unique_ptr<agents::ClusterClient> m_client;
  std::jthread m_closing;  // ends the previous client: that may wait for the network
  bool m_mirrorIsOn = true;
  engine::Retention m_retention;
  std::unique_ptr<HistoryMirror> m_mirror;
  std::uint64_t m_connection = 0;
  std::int64_t m_lastEvent = 0;
  bool m_fetchingEvents = false;
  std::vector<engine::Event> m_heldEvents;  // came while older ones were asked for
};

}  // namespace tessera::app
