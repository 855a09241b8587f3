// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// Buttons, or other small widgets, beside each other; below each other where the row has too
/// little room for their texts.

#include <QWidget>

class QBoxLayout;

namespace tessera::ui {

class ButtonRow : public QWidget {
  Q_OBJECT

 public:
  explicit ButtonRow(int spacing, QWidget* parent = nullptr);
  void add(QWidget* button, int stretch = 0);
  /// The buttons that follow are at the right.
  void addStretch();
  QSize minimumSizeHint() const override;

 protected:
  bool event(QEvent* event) override;

 private:
  void arrange();
  QBoxLayout* m_row;
};

}  // namespace tessera::ui
