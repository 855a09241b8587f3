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

  void paint(QPainter* painter, const QStyleOptionViewItem& option,
             const QModelIndex& index) const override;

 protected:
  void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override;
};

}  // namespace tessera::ui
