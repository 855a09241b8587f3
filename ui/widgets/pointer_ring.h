// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// A ring around the pointer, for the audience of a projector. It is filled while a button is held.

#include <QWidget>

namespace tessera::ui {

class PointerRing : public QWidget {
  Q_OBJECT

 public:
  static constexpr int kSize = 56;

  /// Lies over `window`, where the pointer is.
  explicit PointerRing(QWidget* window);
  void setActive(bool active);

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;
  void paintEvent(QPaintEvent* event) override;

 private:
  bool m_active = false;
  bool m_pressed = false;
};

}  // namespace tessera::ui
