// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// A small rotating arc that shows activity. It does not rotate if motion is reduced.

#include <QTimer>
#include <QWidget>

namespace tessera::ui {

class Spinner : public QWidget {
  Q_OBJECT

 public:
  explicit Spinner(QWidget* parent = nullptr);
  void setRunning(bool running);
  bool isRunning() const { return m_running; }
  void setReduceMotion(bool on) { m_reduceMotion = on; }

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  QTimer m_timer;
  int m_angle = 0;
  bool m_running = false;
  bool m_reduceMotion = false;
};

}  // namespace tessera::ui
