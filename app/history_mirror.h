// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The panel's copy of a cluster's history, so that the past can be shown when the cluster is gone.
/// The mirror requests all rows after the newest one in the copy. A panel that was closed catches
/// up that way, and only rows that the cluster itself has removed are missing
/// (engine::History::Covered returns the complete spans of time).

#include <QObject>
#include <QString>
#include <QTimer>
#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "agents/wire/messages_fwd.h"
#include "app/task_thread.h"
#include "engine/history/history.h"

namespace tessera::app {

/// Intervals of a mirror.
struct MirrorOptions {
  std::chrono::milliseconds together{1000};  // rows of this interval are requested together
  std::chrono::milliseconds retry{3000};     // after a failed request
  std::chrono::milliseconds idle{30'000};    // between requests while nothing happens
};

/// Lives on the GUI thread and never blocks it; a thread of its own writes the file.
class HistoryMirror final : public QObject {
  Q_OBJECT

 public:
  using Answer = std::function<void(Result<wire::Reply>)>;
  /// Sends a request; calls `answer` exactly once, later, on any thread.
  using Ask = std::function<void(wire::Request, Answer answer)>;

  /// Mirrors the cluster of the profile `cluster`. `ask` is called on the GUI thread.
  HistoryMirror(std::string cluster, Ask ask, const MirrorOptions& options = {},
                QObject* parent = nullptr);
  /// Waits for a write in progress.
  ~HistoryMirror() override;

  const std::string& cluster() const { return m_cluster; }
  /// TESSERA_HOME/mirror/CLUSTER.sqlite. Another cluster of the same name has another history,
  /// which is mirrored in CLUSTER.ID.sqlite beside it.
  static std::string pathOf(const std::string& cluster);

  /// Sends no requests while the cluster is not connected.
  void setConnected(bool connected);
  /// Call this when something happened. The new rows are requested within MirrorOptions::together.
  void touch();
  /// Why the history is not mirrored, in one line; empty while it is.
  const QString& problem() const { return m_problem; }
  void setRetention(const engine::Retention& retention);
  /// Notes in the copy that the cluster is simulated, on this hardware. Empty: it is real.
  void setSimulated(const std::string& hardware);

 signals:
  /// The copy is up to date; `path` is its file.
  void caughtUp(const QString& path);
  /// problem() has changed.
  void problemChanged(const QString& text);
  /// A problem that is already solved, such as a damaged file that was moved aside.
  void noted(const QString& text);

 private:
  struct Store;  // owned by the writing thread
  struct Outcome {
    Result<bool> more;
    std::string path = {};
  };

  void askNext();
  void send(const engine::HistoryCursor& since);
  void take(const engine::HistoryCursor& since, const Result<wire::Reply>& reply);
  void finish(const Outcome& outcome);
  void setProblem(const Status& status);
  /// Runs `task` on this object's thread. Called on the writing thread.
  void onGui(std::function<void()> task);

  const std::string m_cluster;
  const Ask m_ask;
  const MirrorOptions m_options;
  QTimer m_next, m_idle;
  bool m_connected = false, m_busy = false, m_again = false;
  QString m_problem;
  std::string m_simulated;  // noted so far
  int m_failures = 0;       // failed requests in a row
  std::shared_ptr<Store> m_store;
  std::shared_ptr<TaskThread> m_thread;  // shared with answers that may arrive after the destructor
};

}  // namespace tessera::app
