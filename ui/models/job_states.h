// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// What the files of the jobs are made of: asked of the cluster once a layout, and only while
/// somebody looks.

#include <QObject>
#include <QPointer>
#include <QString>
#include <QTimer>
#include <map>
#include <string>
#include <utility>

#include "engine/vfs/job_facts.h"
#include "ui/commands.h"
#include "ui/models/cluster_model.h"

namespace tessera::ui {

class JobStates : public QObject {
  Q_OBJECT

 public:
  static constexpr int kRetryMs = 3000;

  /// Both outlive it.
  JobStates(ClusterModel& model, ClusterCommands& commands, QObject* parent = nullptr);

  /// Nothing is asked while not. What was known stays.
  void setActive(bool active);
  /// By name, with epoch and step as the newest snapshot has them; empty before the first answer.
  const engine::vfs::Jobs& jobs() const { return m_jobs; }
  bool isKnown() const { return m_known; }
  /// Why the last question was not answered; empty where it was.
  const QString& problem() const { return m_problem; }

 signals:
  void changed();

 private:
  /// (epoch, layout hash) by job: what the answer depends on.
  using Wanted = std::map<std::string, std::pair<std::int64_t, std::string>>;

  Wanted wanted() const;
  void refresh();
  void ask();
  /// Takes over what changes from step to step.
  bool follow();
  void forget();

  ClusterModel& m_model;
  ClusterCommands& m_commands;
  engine::vfs::Jobs m_jobs;
  bool m_active = false;
  bool m_known = false;
  bool m_asking = false;
  std::uint64_t m_cluster = 0;  // counts the clusters that were shown
  Wanted m_asked;
  QString m_problem;
  QTimer m_retry;
};

}  // namespace tessera::ui
