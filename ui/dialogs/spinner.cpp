// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/dialogs/spinner.h"

#include <QPainter>

#include "ui/theme.h"

namespace tessera::ui {
namespace {
constexpr int kPeriodMs = 40;
constexpr int kStep = 18;  // degrees
}  // namespace

Spinner::Spinner(QWidget* parent) : QWidget(parent) {
  setFixedSize(16, 16);
  m_timer.setInterval(kPeriodMs);
  connect(&m_timer, &QTimer::timeout, this, [this] {
    m_angle = (m_angle + kStep) % 360;
    if (isVisible()) update();
  });
}

void Spinner::setRunning(bool running) {
  m_running = running;
  if (running && !m_reduceMotion) {
    m_timer.start();
  } else {
    m_timer.stop();
  }
  update();
}

void Spinner::paintEvent(QPaintEvent*) {
  if (!m_running) return;
  const Theme& theme = Theme::current();
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const QRectF ring(2, 2, 12, 12);
  painter.setPen(QPen(theme.track, 2));
  painter.drawEllipse(ring);
  painter.setPen(QPen(theme.accent, 2, Qt::SolidLine, Qt::RoundCap));
  painter.drawArc(ring, (90 - m_angle) * 16, -100 * 16);
}

}  // namespace tessera::ui
