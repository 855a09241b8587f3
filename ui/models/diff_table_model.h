// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The facts of two changes as a table with a column for each.

#include <vector>

#include "ui/models/change_diff.h"
#include "ui/models/column_table.h"

namespace tessera::ui {

class DiffTableModel : public ColumnTable<std::vector<DiffRow>> {
  Q_OBJECT

 public:
  enum Columns { FactColumn, AColumn, BColumn, NUM_COLUMNS };
  enum Roles { DiffersRole = Qt::UserRole + 1 };  // bool

  explicit DiffTableModel(QObject* parent = nullptr);
  /// Keeps the rows if they are the same.
  void setRows(std::vector<DiffRow> rows);

  QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
};

}  // namespace tessera::ui
