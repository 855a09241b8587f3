// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/diff_table_model.h"

#include <utility>

namespace tessera::ui {

DiffTableModel::DiffTableModel(QObject* parent) : ColumnTable(parent) {
  setColumns({{tr("what"), [](const DiffRow& row) { return row.name; }},
              {tr("A"), [](const DiffRow& row) { return row.a; }},
              {tr("B"), [](const DiffRow& row) { return row.b; }}});
}

void DiffTableModel::setRows(std::vector<DiffRow> rows) {
  if (rows != m_rows) resetRows(std::move(rows));
}

QVariant DiffTableModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) return {};
  if (role == DiffersRole) return row(index.row()).differs();
  // The texts may be longer than the columns.
  return ColumnTable::data(index, role == Qt::ToolTipRole ? Qt::DisplayRole : role);
}

}  // namespace tessera::ui
