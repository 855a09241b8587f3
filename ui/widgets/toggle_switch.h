// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// An on/off switch with its name beside it.

#include <QAbstractButton>

namespace tessera::ui {

class ToggleSwitch : public QAbstractButton {
  Q_OBJECT

 public:
  explicit ToggleSwitch(const QString& text, QWidget* parent = nullptr);
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override { return sizeHint(); }

 protected:
  void paintEvent(QPaintEvent* event) override;
};

}  // namespace tessera::ui
