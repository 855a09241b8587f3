// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// Finished transactions as a table, newest first.

#include <QAbstractTableModel>
#include <vector>

#include "engine/cluster/snapshot.h"

namespace tessera::ui {

class HistoryTableModel : public QAbstractTableModel {
  Q_OBJECT

 public:
  enum Columns {
    WhenColumn,
    JobColumn,
    ChangeColumn,
    MovedColumn,
    BoundColumn,
    PauseColumn,
    ResultColumn,
    DigestsColumn,
    NUM_COLUMNS
  };
  enum Roles { ResultRole = Qt::UserRole + 1 };  // "committed", "rolled_back", "failed", ""

  explicit HistoryTableModel(QObject* parent = nullptr);
  void setEntries(std::vector<engine::HistoryEntry> entries);
  const std::vector<engine::HistoryEntry>& entries() const { return m_entries; }
  /// Returns the row of a transaction, or -1.
  int rowOf(std::int64_t txn) const;
  /// Returns null if the row is out of range.
  const engine::HistoryEntry* entry(int row) const;
  /// Returns the row of the newest committed transaction, or -1.
  int lastCommitted() const;

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
  QVariant headerData(int section, Qt::Orientation orientation,
                      int role = Qt::DisplayRole) const override;

 private:
  QString text(const engine::HistoryEntry& entry, int column) const;

  std::vector<engine::HistoryEntry> m_entries;
};

}  // namespace tessera::ui
