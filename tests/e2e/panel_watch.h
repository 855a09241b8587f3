// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// What holds in a panel after everything that a user or the cluster does.

#include <QObject>
#include <QStringList>
#include <cstdint>
#include <map>
#include <optional>

#include "tests/e2e/watched_commands.h"
#include "ui/main_window.h"
#include "ui/models/draft.h"
#include "ui/views/shown_layout.h"

namespace tessera::test {

/// Looks at a window from outside: at widgets, actions and the commands that it sends.
class PanelWatch : public QObject {
  Q_OBJECT

 public:
  /// All outlive it.
  PanelWatch(ui::MainWindow& window, ui::ClusterModel& model, WatchedCommands& commands);

  ui::LayoutSource source() const;
  /// Why this panel may not change the cluster; empty: it may.
  QString forbidden() const;

  /// Checks what holds at any moment.
  void check();
  /// Undoes all edits, which restores Live exactly, and does some of them again.
  void checkUndo();
  /// Everything that did not hold, each once.
  const QStringList& wrong() const { return m_wrong; }
  void report(const QString& text);

  /// The memory of this process that is not shared with others, in bytes.
  static std::int64_t residentBytes();

 private:
  void checkApply();
  void checkSelection();
  void checkProgress();
  void checkWindows();

  ui::MainWindow& m_window;
  ui::ClusterModel& m_model;
  WatchedCommands& m_commands;
  ui::Draft::Edits m_bottom;                   // of the undo stack
  std::optional<ui::Draft::Edits> m_replaced;  // by the newest change of an empty stack
  std::map<std::int64_t, double> m_progress;   // by transaction
  QStringList m_wrong;
};

}  // namespace tessera::test
