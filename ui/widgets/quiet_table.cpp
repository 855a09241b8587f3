// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widgets/quiet_table.h"

#include <QAbstractItemModel>
#include <QHeaderView>
#include <QTableView>
#include <algorithm>

#include "ui/theme.h"

namespace tessera::ui {
namespace {
constexpr int kHeadingPadding = 14;  // of both sides, as in the style sheet
}  // namespace

void makeQuiet(QTableView& table, int rowHeight) {
  table.setShowGrid(false);
  table.setFrameShape(QFrame::NoFrame);
  table.setSelectionBehavior(QAbstractItemView::SelectRows);
  table.setEditTriggers(QAbstractItemView::NoEditTriggers);
  table.setTabKeyNavigation(false);
  table.setWordWrap(false);
  table.verticalHeader()->hide();
  table.verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
  table.verticalHeader()->setDefaultSectionSize(rowHeight);
}

void setColumnRoom(QTableView& table, int column, int width) {
  QHeaderView* header = table.horizontalHeader();
  header->ensurePolished();
  const QString heading = table.model()->headerData(column, Qt::Horizontal).toString();
  const int need = header->fontMetrics().horizontalAdvance(heading) + kHeadingPadding;
  table.setColumnWidth(column, std::max(width, need));
}

void setNumberRoom(QTableView& table, int column, int width) {
  QHeaderView* header = table.horizontalHeader();
  header->setResizeContentsPrecision(-1);  // all rows
  table.resizeColumnToContents(column);
  const int content = std::max(width, table.columnWidth(column));
  if (header->isHidden()) {
    table.setColumnWidth(column, content);
  } else {
    setColumnRoom(table, column, content);
  }
}

void QuietDelegate::initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const {
  QStyledItemDelegate::initStyleOption(option, index);
  option->font = uiFont(12, weightOf(index));
  const QColor color = colorOf(index);
  option->palette.setColor(QPalette::Text, color);
  option->palette.setColor(QPalette::HighlightedText, color);
}

}  // namespace tessera::ui
