// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// A line of text that ends with an ellipsis where there is no room; its tool tip then has all of
/// it.

#include <QLabel>

namespace tessera::ui {

class ElidedLabel : public QLabel {
  Q_OBJECT

 public:
  explicit ElidedLabel(QWidget* parent = nullptr) : QLabel(parent) {}
  QSize minimumSizeHint() const override;
  /// Whether a part of the text is not shown.
  bool isElided() const;

 protected:
  bool event(QEvent* event) override;
  void paintEvent(QPaintEvent* event) override;
};

}  // namespace tessera::ui
