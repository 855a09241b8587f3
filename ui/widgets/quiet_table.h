// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The common look of all tables in the panel.

#include <QStyledItemDelegate>

class QTableView;

namespace tessera::ui {

/// Sets up rows of one line and `rowHeight` pixels that are selected as a whole and cannot be
/// edited; no grid, frame or row numbers. Tab leaves the table instead of moving between cells.
void makeQuiet(QTableView& table, int rowHeight);

/// Makes a column `width` pixels wide, or as wide as its heading, which is longer in some
/// languages.
void setColumnRoom(QTableView& table, int column, int width);
/// The same for a column of numbers, which must not be elided: also as wide as its widest text.
/// Call it when the rows have changed.
void setNumberRoom(QTableView& table, int column, int width);

/// Draws the cells of a table at 12 pixels, in a colour and weight that depend on the cell; a
/// selected cell keeps its colour.
class QuietDelegate : public QStyledItemDelegate {
 public:
  using QStyledItemDelegate::QStyledItemDelegate;

 protected:
  void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const final;
  virtual QColor colorOf(const QModelIndex& index) const = 0;
  virtual QFont::Weight weightOf(const QModelIndex& /*index*/) const { return QFont::Normal; }
};

}  // namespace tessera::ui
