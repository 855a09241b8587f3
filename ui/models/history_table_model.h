// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// Finished transactions as a table, newest first.

#include <vector>

#include "engine/cluster/snapshot.h"
#include "ui/models/column_table.h"

namespace tessera::ui {

class HistoryTableModel : public ColumnTable<std::vector<engine::HistoryEntry>> {
  Q_OBJECT

 public:
  enum Columns {
    WhenColumn,
    JobColumn,
    ChangeColumn,
    MovedColumn,
    BoundColumn,
    PauseColumn,
    GapColumn,
    ResultColumn,
    DigestsColumn,
    NUM_COLUMNS
  };
  enum Roles { ResultRole = Qt::UserRole + 1 };  // HistoryEntry::result

  explicit HistoryTableModel(QObject* parent = nullptr);
  void setEntries(std::vector<engine::HistoryEntry> entries);
  const std::vector<engine::HistoryEntry>& entries() const { return m_rows; }
  /// Returns the row of a transaction, or -1.
  int rowOf(std::int64_t txn) const;
  /// Returns null if the row is out of range.
  const engine::HistoryEntry* entry(int row) const;
  /// Returns the row of the newest committed transaction, or -1.
  int lastCommitted() const;

  QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
};

}  // namespace tessera::ui
