// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// What the card of a loss asks for besides a decision: going back, which the name of the job
/// confirms, starting nodes, starting over and stopping.

#include <QCoreApplication>
#include <QObject>

#include "ui/actions/cluster_command.h"

namespace tessera::ui {

class ActionRegistry;
class DecisionPanel;

class DecisionDesk : public QObject {
  Q_DECLARE_TR_FUNCTIONS(tessera::ui::MainWindow)

 public:
  /// All outlive it.
  DecisionDesk(const CommandContext& with, const ActionRegistry& actions,
               const DecisionPanel& card);

 private:
  void goBack(const engine::RecoveryWay& way);
  void startNodes(const QList<qint32>& nodes);
  void startOver();
  void trigger(const char* action);

  const CommandContext& m_with;
  const ActionRegistry& m_actions;
};

}  // namespace tessera::ui
