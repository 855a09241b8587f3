// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/text_table_model.h"

#include <utility>

namespace tessera::ui {

void TextTableModel::setTable(TextTable table) {
  beginResetModel();
  std::vector<Column> columns;
  for (std::size_t i = 0; i < table.titles.size(); ++i) {
    const TextTable::Title& title = table.titles[i];
    columns.push_back(
        {title.text,
         [at = static_cast<qsizetype>(i)](const QStringList& row) { return row.value(at); },
         title.isNumber ? Qt::AlignRight : Qt::AlignLeft});
  }
  setColumns(std::move(columns));
  m_marked = table.marked;
  m_rows = std::move(table.rows);
  endResetModel();
}

QString TextTableModel::asText() const {
  QStringList lines;
  QStringList titles;
  for (int column = 0; column < columnCount(); ++column) {
    titles << headerData(column, Qt::Horizontal).toString();
  }
  lines << titles.join(QLatin1Char('\t'));
  for (QStringList row : m_rows) {
    lines
        << row.replaceInStrings(QStringLiteral("\t"), QStringLiteral(" ")).join(QLatin1Char('\t'));
  }
  return lines.join(QLatin1Char('\n')) + QLatin1Char('\n');
}

QVariant TextTableModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) return {};
  if (role == Qt::ToolTipRole || role == Qt::AccessibleTextRole)
    return text(row(index.row()), index.column());
  return ColumnTable::data(index, role);
}

}  // namespace tessera::ui
