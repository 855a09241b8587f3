// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widgets/toggle_switch.h"

#include <QPainter>

#include "ui/theme.h"

namespace tessera::ui {
namespace {
constexpr int kTrackWidth = 30;
constexpr int kTrackHeight = 16;
constexpr int kToggleGap = 8;
}  // namespace

ToggleSwitch::ToggleSwitch(const QString& text, QWidget* parent) : QAbstractButton(parent) {
  setText(text);
  setCheckable(true);
  setFocusPolicy(Qt::StrongFocus);
  setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
}

int ToggleSwitch::textRoom() const {
  return kToggleGap + QFontMetrics(uiFont(12.5)).horizontalAdvance(text());
}

QSize ToggleSwitch::sizeHint() const {
  return {kTrackWidth + (m_textShown ? textRoom() : 0) + 6, 28};
}

void ToggleSwitch::setTextShown(bool shown) {
  if (shown == m_textShown) return;
  m_textShown = shown;
  updateGeometry();
  update();
}

void ToggleSwitch::paintEvent(QPaintEvent*) {
  const Theme& theme = Theme::current();
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const QRectF track(2, (height() - kTrackHeight) / 2.0, kTrackWidth, kTrackHeight);
  painter.setPen(isChecked() ? Qt::NoPen : QPen(theme.line));
  painter.setBrush(isChecked() && isEnabled() ? theme.accent : theme.track);
  painter.drawRoundedRect(track, 8, 8);
  painter.setPen(isChecked() ? Qt::NoPen : QPen(theme.line));
  painter.setBrush(isEnabled() ? QColor(Qt::white) : theme.soft);
  painter.drawEllipse(QPointF(track.left() + (isChecked() ? 22 : 8), track.center().y()), 6, 6);
  if (hasFocus()) {
    painter.setPen(QPen(theme.accent, 1.5));
    painter.setBrush(Qt::NoBrush);
    painter.drawRoundedRect(track.adjusted(-1.5, -1.5, 1.5, 1.5), 9, 9);
  }
  if (!m_textShown) return;
  painter.setFont(uiFont(12.5));
  painter.setPen(!isEnabled() ? theme.faint : isChecked() ? theme.text : theme.dim);
  painter.drawText(rect().adjusted(kTrackWidth + kToggleGap + 2, 0, 0, 0),
                   Qt::AlignLeft | Qt::AlignVCenter, text());
}

}  // namespace tessera::ui
