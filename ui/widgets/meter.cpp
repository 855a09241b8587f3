// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widgets/meter.h"

#include <QPainter>
#include <algorithm>

#include "ui/theme.h"

namespace tessera::ui {
namespace {

constexpr double kTight = 0.9;  // above: little is left

}  // namespace

Meter::Meter(QWidget* parent) : QWidget(parent) {
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

void Meter::setFraction(std::optional<double> fraction, const QString& words) {
  setAccessibleName(words);
  if (fraction == m_fraction) return;
  m_fraction = fraction;
  update();
}

void Meter::paintEvent(QPaintEvent*) {
  const Theme& theme = Theme::current();
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(Qt::NoPen);
  const QRectF track(0, (height() - 6) / 2.0, width(), 6);
  painter.setBrush(theme.track);
  painter.drawRoundedRect(track, 3, 3);
  if (!m_fraction || *m_fraction <= 0) return;
  QRectF part = track;
  part.setWidth(std::max(6.0, track.width() * std::min(1.0, *m_fraction)));
  painter.setBrush(*m_fraction > kTight ? theme.warn : theme.dim);
  painter.drawRoundedRect(part, 3, 3);
}

}  // namespace tessera::ui
