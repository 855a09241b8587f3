// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Kills or stops agents at named points of their work. agents/DESIGN.md lists the points.

#include <QTemporaryDir>

namespace tessera::test {

/// Agents that are started from now on look into this folder (agents/node/fault.h).
class FaultFolder {
 public:
  FaultFolder() { qputenv("TESSERA_FAULT_FOLDER", folder_.path().toUtf8()); }

  /// The node's agent gets SIGKILL when it reaches the point for the `times`-th time from now on.
  /// \return whether that could be ordered
  bool KillAt(int node, const QString& point, int times = 1) const;
  /// It gets SIGSTOP when it next reaches the point.
  bool StopAt(int node, const QString& point) const;
  /// Whether an order is there that the agent has not carried out.
  bool IsPending(int node, const QString& point) const;
  /// Withdraws the order.
  /// \return whether it was pending
  bool Withdraw(int node, const QString& point) const;

 private:
  QString PathOf(int node, const QString& point) const;
  bool Order(int node, const QString& point, const QByteArray& act) const;

  QTemporaryDir folder_;
};

}  // namespace tessera::test
