// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// "The change starts in 3 s": the time between a drop and its apply in live mode.

#include <QTimer>

#include "ui/models/move_control.h"
#include "ui/widgets/alert_surface.h"

class QLabel;
class QProgressBar;
class QPushButton;

namespace tessera::ui {

/// Visible only while `control` counts down or waits for the plan before a countdown.
class CountdownBar : public AlertSurface {
  Q_OBJECT

 public:
  CountdownBar(MoveControl& control, QWidget* parent = nullptr);
  QString text() const;

 private:
  void refresh();

  MoveControl& m_control;
  QLabel* m_text;
  QProgressBar* m_bar;
  QPushButton* m_stop;
  QTimer m_tick;
};

}  // namespace tessera::ui
