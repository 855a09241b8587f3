// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The facts from which the files of the jobs are derived. They are requested once per layout, and
/// only while they are visible.

#include <QObject>
#include <QPointer>
#include <QString>
#include <QTimer>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "engine/vfs/job_facts.h"
#include "ui/commands.h"
#include "ui/models/cluster_model.h"

namespace tessera::ui {

class JobStates : public QObject {
  Q_OBJECT

 public:
  static constexpr int kRetryMs = 3000;

  /// Both must outlive it.
  JobStates(ClusterModel& model, ClusterCommands& commands, QObject* parent = nullptr);

  /// Sets whether `user` shows the states. Without users nothing is requested; known states stay.
  void setActive(const QObject* user, bool active);
  /// The states by job name, with epoch and step of the newest snapshot; empty before the first
  /// answer.
  const engine::vfs::Jobs& jobs() const { return m_jobs; }
  bool isKnown() const { return m_known; }
  /// Why the last request failed; empty if it succeeded.
  const QString& problem() const { return m_problem; }

 signals:
  void changed();

 private:
  /// (epoch, layout hash) by job: the answer depends on these.
  using Wanted = std::map<std::string, std::tuple<std::int64_t, std::int64_t, std::string>>;

  Wanted wanted() const;
  void refresh();
  void ask();
  /// Copies the values that change with each step.
  bool follow();
  void forget();

  ClusterModel& m_model;
  ClusterCommands& m_commands;
  engine::vfs::Jobs m_jobs;
  std::set<const QObject*> m_users;
  bool m_known = false;
  bool m_asking = false;
  std::uint64_t m_cluster = 0;  // number of clusters shown so far
  Wanted m_asked;
  QString m_problem;
  QTimer m_retry;
};

}  // namespace tessera::ui
