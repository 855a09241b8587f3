// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The panel's own copy of a cluster's history, so that the past can be opened when the cluster is
/// gone. It is made by asking the registrar for what came after the last thing that the copy has:
/// so a panel that was away catches up, and nothing is missing but what the cluster itself has let
/// go (engine::History::Covered says which spans of time are whole).

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

/// How a mirror waits.
struct MirrorOptions {
  std::chrono::milliseconds together{1000};  // what happens within it is asked for at once
  std::chrono::milliseconds retry{3000};     // after a question that was not answered
  std::chrono::milliseconds idle{30'000};    // "nothing happened" is news as well
};

/// Lives on the GUI thread and never waits there; the file is written on a thread of its own.
class HistoryMirror final : public QObject {
  Q_OBJECT

 public:
  using Answer = std::function<void(Result<wire::Reply>)>;
  /// Sends a request; calls `answer` exactly once, later, on any thread.
  using Ask = std::function<void(wire::Request, Answer answer)>;

  /// Of the cluster that the profile `cluster` leads to. `ask` is called on the GUI thread.
  HistoryMirror(std::string cluster, Ask ask, const MirrorOptions& options = {},
                QObject* parent = nullptr);
  /// Waits for the write at hand.
  ~HistoryMirror() override;

  const std::string& cluster() const { return m_cluster; }
  /// TESSERA_HOME/mirror/CLUSTER.sqlite. A cluster that was set up anew under the same name has
  /// another history: that is mirrored in CLUSTER.ID.sqlite beside it.
  static std::string pathOf(const std::string& cluster);

  /// Nothing is asked while the cluster cannot be reached.
  void setConnected(bool connected);
  /// Something happened: asks for it within MirrorOptions::together.
  void touch();
  /// Why what happens is not mirrored, in one line; empty while it is.
  const QString& problem() const { return m_problem; }
  void setRetention(const engine::Retention& retention);

 signals:
  /// The mirror has all that was asked for; `path` is the file.
  void caughtUp(const QString& path);
  /// problem() is another one.
  void problemChanged(const QString& text);
  /// Something that is over: a damaged file was set aside.
  void noted(const QString& text);

 private:
  struct Store;  // what the writing thread owns
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
  int m_failures = 0;  // questions that were not answered, one after the other
  std::shared_ptr<Store> m_store;
  std::shared_ptr<TaskThread> m_thread;  // shared with answers that come when this is gone
};

}  // namespace tessera::app
