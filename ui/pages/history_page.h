// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The table of past transactions; a row can be looked into, planned in reverse, and exported.

#include <optional>

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
  QPushButton* exportButton() const { return m_export; }
  /// For the row of tabs: a note, and what can be done.
  QWidget* corner() const { return m_corner; }
  /// "History starts with your first change.", "reading…", or why it could not be read.
  QString note() const;
  /// The chosen row, or the newest committed one; null where there is nothing to reverse.
  const engine::HistoryEntry* reversible() const;
  /// Null where no row is chosen.
  const engine::HistoryEntry* chosen() const;
  /// Chooses the row of a transaction, or none. \return whether there is such a row
  bool choose(std::optional<std::int64_t> txn);
  /// Says how old the rows are; empty: they are current.
  void setStale(const QString& asOf);

 signals:
  void reverseRequested(const tessera::engine::HistoryEntry& entry);
  /// Another row is chosen, or the same one has other contents.
  void chosenChanged();
  void loaded();
  /// The file could not be written; one sentence.
  void failed(const QString& message);

 private:
  void refresh();
  void exportRows();

  ClusterCommands& m_commands;
  HistoryTableModel m_model;
  QTableView* m_table;
  QWidget* m_corner;
  QLabel* m_note;
  QPushButton* m_export;
  QPushButton* m_reverse;
  QString m_stale, m_error;
  bool m_loading = false;
  bool m_loaded = false;
};

}  // namespace tessera::ui
