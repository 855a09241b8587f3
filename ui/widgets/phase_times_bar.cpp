// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widgets/phase_times_bar.h"

#include <QPainter>
#include <QStringList>
#include <algorithm>
#include <utility>

#include "ui/format.h"
#include "ui/theme.h"

namespace tessera::ui {
namespace {

constexpr int kBarHeight = 14;
constexpr int kLegendTop = 22;
constexpr int kRow = 20;
constexpr int kSwatch = 9;
constexpr double kMinPart = 4;

// Neighbours differ in strength, so that each phase has an end.
QColor colorOf(const PhaseTime& phase, int place) {
  const Theme& theme = Theme::current();
  const double strength = place % 2 == 0 ? 1.0 : 0.68;
  return phase.pauses ? blend(theme.accent, theme.panel, strength)
                      : blend(theme.faint, theme.panel, 0.75 * strength);
}

}  // namespace

PhaseTimesBar::PhaseTimesBar(QWidget* parent) : QWidget(parent) {
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

void PhaseTimesBar::setPhases(std::vector<PhaseTime> phases) {
  if (phases == m_phases) return;
  m_phases = std::move(phases);
  QStringList names;
  for (const PhaseTime& phase : m_phases) {
    names << phase.name + QLatin1Char(' ') + format::seconds(phase.seconds);
  }
  setAccessibleName(names.join(QStringLiteral(", ")));
  updateGeometry();
  update();
}

QSize PhaseTimesBar::sizeHint() const {
  return {300, kLegendTop + kRow * static_cast<int>(m_phases.size())};
}

void PhaseTimesBar::paintEvent(QPaintEvent*) {
  const Theme& theme = Theme::current();
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  double whole = 0;
  for (const PhaseTime& phase : m_phases) whole += phase.seconds;
  const double room = width() - kMinPart * static_cast<double>(m_phases.size());
  double x = 0;
  int y = kLegendTop, place = 0;
  painter.setFont(uiFont(12));
  for (const PhaseTime& phase : m_phases) {
    const double part = whole > 0 ? phase.seconds / whole : 0;
    const double wide = kMinPart + std::max(0.0, room * part);
    painter.setPen(Qt::NoPen);
    painter.setBrush(colorOf(phase, place));
    painter.drawRoundedRect(QRectF(x, 0, std::max(2.0, wide - 1.5), kBarHeight), 3, 3);
    painter.drawRoundedRect(QRectF(0, y + (kRow - kSwatch) / 2.0, kSwatch, kSwatch), 2, 2);
    x += wide;
    painter.setPen(theme.dim);
    painter.drawText(QRect(kSwatch + 7, y, width() - kSwatch - 7, kRow),
                     Qt::AlignLeft | Qt::AlignVCenter, phase.name);
    painter.setPen(theme.text);
    painter.drawText(QRect(0, y, width(), kRow), Qt::AlignRight | Qt::AlignVCenter,
                     format::seconds(phase.seconds));
    y += kRow;
    ++place;
  }
}

}  // namespace tessera::ui
