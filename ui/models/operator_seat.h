// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// One panel at a time operates a cluster. It takes the cluster's operator lease when it goes to
/// Operate, renews it, and releases it with Monitor. The lease refuses no command; it shows
/// operators each other.

#include <QObject>
#include <QString>
#include <QTimer>
#include <optional>

#include "ui/commands.h"
#include "ui/models/cluster_model.h"
#include "ui/models/move_control.h"

namespace tessera::ui {

class OperatorSeat : public QObject {
  Q_OBJECT

 public:
  static constexpr int kRenewMs = 5000;  // a third of the lease's term

  /// All arguments must outlive the seat.
  OperatorSeat(ClusterModel& model, MoveControl& control, ClusterCommands& commands,
               QObject* parent = nullptr);

  /// The lease of another panel, or nullptr.
  const engine::OperatorLease* other() const;
  /// Whether this panel has the lease.
  bool isHeld() const { return m_held; }
  /// Goes to Operate, also if another panel operates the cluster.
  void takeOver();
  /// Why another panel operates the cluster instead of this one, as one sentence with the name of
  /// its user. Empty if none does, or if this panel never wanted to operate.
  QString notice() const;

 signals:
  void changed();

 private:
  void follow();
  void followSnapshot();
  void send(OperateAct act);
  void onAnswer(OperateAct act, const Result<OperateAnswer>& answer);
  void giveWay(const QString& notice);

  ClusterModel& m_model;
  MoveControl& m_control;
  ClusterCommands& m_commands;
  const QString m_panel;
  bool m_held = false;
  bool m_seen = false;   // a snapshot has shown that it has the lease
  bool m_asked = false;  // and not answered yet
  int m_cluster = 0;     // changes with the cluster, whose answers then do not count any more
  bool m_takesOver = false;
  QString m_notice;
  QTimer m_renew;
};

/// "lena: tessera, lena@lab3, since 14:03".
QString leaseText(const engine::OperatorLease& lease);

}  // namespace tessera::ui
