// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The look of the rows of a CandidateTableModel.

#include <QStyledItemDelegate>

namespace tessera::ui {

/// Paints how a candidate fits as a shape. Highlights the recommended candidate, appends what a
/// candidate is best in, and labels the running one.
class CandidateDelegate : public QStyledItemDelegate {
  Q_OBJECT

 public:
  using QStyledItemDelegate::QStyledItemDelegate;
  /// Whether the options are a second line of the mesh, for a table without their column.
  void setTwoLines(bool on) { m_twoLines = on; }
  /// What the second line, or else the column of the options, says: "ZeRO mb 4, fastest".
  static QString optionsText(const QModelIndex& index);

  void paint(QPainter* painter, const QStyleOptionViewItem& option,
             const QModelIndex& index) const override;

 protected:
  void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override;

 private:
  bool m_twoLines = false;
};

}  // namespace tessera::ui
