// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// Saves what the history has, in files that the user chooses: the report of a change, and the past
/// of a job as a scenario.

#include <QCoreApplication>
#include <QObject>
#include <functional>

#include "ui/commands.h"

class QWidget;

namespace tessera::ui {

class ClusterModel;
class HistoryPage;

class ChangeReports : public QObject {
  Q_DECLARE_TR_FUNCTIONS(tessera::ui::MainWindow)

 public:
  struct Parts {
    const ClusterModel& model;
    ClusterCommands& commands;
    HistoryPage& history;
    std::function<void(const QString&)> say;        // a completed action, as one sentence
    std::function<void(const QString&)> showError;  // a problem, as one sentence
  };

  /// All parts and the window, over which the dialogs are shown, outlive it.
  ChangeReports(Parts parts, QWidget* window);
  /// The change whose report can be saved: the chosen one, else the latest that has ended; null:
  /// there is none.
  const engine::HistoryEntry* reportable() const;
  /// By value: the history may be read again while the user chooses a file.
  void save(engine::HistoryEntry entry);
  /// Shows an error if the history does not have the transaction yet.
  void saveOf(qint64 txn);
  /// \pre a job is shown
  void saveScenario();

 private:
  Parts m_parts;
  QWidget* m_window;
};

}  // namespace tessera::ui
