// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// A round button that is on or off: one of a few choices above a view.

#include <QAbstractButton>

namespace tessera::ui {

class Chip : public QAbstractButton {
  Q_OBJECT

 public:
  Chip(const QString& text, const QString& accessibleName, QWidget* parent = nullptr);
  QSize sizeHint() const override;

 protected:
  void paintEvent(QPaintEvent* event) override;
  void enterEvent(QEnterEvent* event) override;
  void leaveEvent(QEvent* event) override;
};

}  // namespace tessera::ui
