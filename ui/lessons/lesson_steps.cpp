// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/lessons/lesson_steps.h"

#include <QPainter>

#include "ui/theme.h"

namespace tessera::ui {
namespace {
constexpr int kBarHeight = 4;
constexpr int kBarGap = 4;
}  // namespace

LessonSteps::LessonSteps(QWidget* parent) : QWidget(parent) { setFixedHeight(kBarHeight); }

void LessonSteps::setStep(int step, int count) {
  m_step = step;
  m_count = qMax(1, count);
  setAccessibleName(tr("Step %1 of %2").arg(step + 1).arg(count));
  update();
}

void LessonSteps::paintEvent(QPaintEvent*) {
  const Theme& theme = Theme::current();
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(Qt::NoPen);
  const double bar = (width() - kBarGap * (m_count - 1)) / static_cast<double>(m_count);
  for (int i = 0; i < m_count; ++i) {
    painter.setBrush(i <= m_step ? theme.accent : theme.track);
    painter.drawRoundedRect(QRectF(i * (bar + kBarGap), 0, bar, kBarHeight), 2, 2);
  }
}

}  // namespace tessera::ui
