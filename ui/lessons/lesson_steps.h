// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// A row of short bars, one for each step of a lesson, filled up to the step shown.

#include <QWidget>

namespace tessera::ui {

class LessonSteps : public QWidget {
  Q_OBJECT

 public:
  explicit LessonSteps(QWidget* parent = nullptr);
  void setStep(int step, int count);

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  int m_step = 0;
  int m_count = 1;
};

}  // namespace tessera::ui
