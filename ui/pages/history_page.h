// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The table of past transactions, with details, undo and export.

#include <optional>
#include <utility>

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
  /// Requests the history from the cluster. Does nothing while a request is pending.
  void reload();
  /// Forgets the rows, and the answer to a pending request: they are of another cluster.
  void clear();
  HistoryTableModel* model() { return &m_model; }
  QTableView* table() const { return m_table; }
  QPushButton* reverseButton() const { return m_reverse; }
  QPushButton* exportButton() const { return m_export; }
  /// The widget for the row of tabs: a note and buttons.
  QWidget* corner() const { return m_corner; }
  /// "The history starts with your first change.", "Reading…", or why it could not be read.
  QString note() const;
  /// Returns the selected entry, or the latest committed one; null if there is nothing to undo.
  const engine::HistoryEntry* reversible() const;
  /// Returns the selected entry, or null. If several are selected, the one with the focus counts.
  const engine::HistoryEntry* chosen() const;
  /// Returns the two selected entries; nothing unless exactly two are selected.
  using Two = std::pair<const engine::HistoryEntry*, const engine::HistoryEntry*>;
  std::optional<Two> compared() const;
  /// Selects the row of a transaction, or none.
  /// \return whether there is such a row
  bool choose(std::optional<std::int64_t> txn);
  /// Selects the row of a transaction besides those selected.
  /// \return whether there is such a row
  bool addToChosen(std::int64_t txn);
  /// Sets the age of the rows; empty: they are current.
  void setStale(const QString& asOf);

 signals:
  void reverseRequested(const tessera::engine::HistoryEntry& entry);
  /// Another row is selected, or the content of the selected row changed.
  void chosenChanged();
  void loaded();
  /// The file could not be written. `message` is one sentence.
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
  std::uint64_t m_cluster = 0;  // counts clusters; answers of earlier ones are dropped
};

}  // namespace tessera::ui
