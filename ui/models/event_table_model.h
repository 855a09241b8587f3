// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The cluster's events as a table, oldest first.

#include <deque>
#include <vector>

#include "engine/cluster/snapshot.h"
#include "ui/models/column_table.h"

namespace tessera::ui {

class EventTableModel : public ColumnTable<std::deque<engine::Event>> {
  Q_OBJECT

 public:
  enum Columns { TimeColumn, SeverityColumn, TextColumn, NUM_COLUMNS };
  enum Roles {
    SeverityRole = Qt::UserRole + 1,  // int of engine::Severity
    SourceRole,                       // QString
    FilterRole,                       // all text that a filter matches
  };
  /// Beyond this number the oldest rows are removed.
  static constexpr int kMaxRows = 100'000;

  explicit EventTableModel(QObject* parent = nullptr);
  void append(const std::vector<engine::Event>& events);
  void clear();
  /// \pre 0 <= row < rowCount()
  const engine::Event& event(int row) const { return this->row(row); }

  QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
};

}  // namespace tessera::ui
