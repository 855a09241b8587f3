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

constexpr int kPhaseBarHeight = 14;
constexpr int kPhaseLegendTop = 22;
constexpr int kPhaseRow = 20;
constexpr int kPhaseSwatch = 9;
constexpr double kMinPhaseWidth = 4;

// Neighbours alternate in strength, so that their boundary is visible.
QColor phaseColor(const PhaseTime& phase, int place) {
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
  return {300, kPhaseLegendTop + kPhaseRow * static_cast<int>(m_phases.size())};
}

void PhaseTimesBar::paintEvent(QPaintEvent*) {
  const Theme& theme = Theme::current();
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  double whole = 0;
  for (const PhaseTime& phase : m_phases) whole += phase.seconds;
  const double room = width() - kMinPhaseWidth * static_cast<double>(m_phases.size());
  double x = 0;
  int y = kPhaseLegendTop, place = 0;
  painter.setFont(uiFont(12));
  for (const PhaseTime& phase : m_phases) {
    const double part = whole > 0 ? phase.seconds / whole : 0;
    const double wide = kMinPhaseWidth + std::max(0.0, room * part);
    painter.setPen(Qt::NoPen);
    painter.setBrush(phaseColor(phase, place));
    painter.drawRoundedRect(QRectF(x, 0, std::max(2.0, wide - 1.5), kPhaseBarHeight), 3, 3);
    painter.drawRoundedRect(
        QRectF(0, y + (kPhaseRow - kPhaseSwatch) / 2.0, kPhaseSwatch, kPhaseSwatch), 2, 2);
    x += wide;
    painter.setPen(theme.dim);
    painter.drawText(QRect(kPhaseSwatch + 7, y, width() - kPhaseSwatch - 7, kPhaseRow),
                     Qt::AlignLeft | Qt::AlignVCenter, phase.name);
    painter.setPen(theme.text);
    painter.drawText(QRect(0, y, width(), kPhaseRow), Qt::AlignRight | Qt::AlignVCenter,
                     format::seconds(phase.seconds));
    y += kPhaseRow;
    ++place;
  }
}

}  // namespace tessera::ui
