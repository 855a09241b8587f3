// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The table of past transactions; a row can be planned in reverse.

#include "ui/commands.h"
#include "ui/models/history_table_model.h"
#include "ui/widgets/surface.h"

class QLabel;
class QPushButton;
class QTableView;

namespace tessera::ui {

class HistoryPage : public Surface {
  Q_OBJECT

 public:
  explicit HistoryPage(ClusterCommands& commands, QWidget* parent = nullptr);
  /// Asks the cluster for the history anew. A second call while one is under way does nothing.
  void reload();
  HistoryTableModel* model() { return &m_model; }
  QTableView* table() const { return m_table; }
  QPushButton* reverseButton() const { return m_reverse; }
  /// The chosen row, or the newest committed one; null where there is nothing to reverse.
  const engine::HistoryEntry* reversible() const;

 signals:
  void reverseRequested(const tessera::engine::HistoryEntry& entry);
  void loaded();

 private:
  void refresh();

  ClusterCommands& m_commands;
  HistoryTableModel m_model;
  QTableView* m_table;
  QLabel* m_note;
  QPushButton* m_reverse;
  bool m_loading = false;
};

}  // namespace tessera::ui
