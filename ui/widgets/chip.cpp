// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widgets/chip.h"

#include <QFontMetrics>
#include <QPainter>

#include "ui/theme.h"

namespace tessera::ui {

Chip::Chip(const QString& text, const QString& accessibleName, QWidget* parent)
    : QAbstractButton(parent) {
  setText(text);
  setAccessibleName(accessibleName);
  setCheckable(true);
  setFocusPolicy(Qt::TabFocus);
  setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
}

QSize Chip::sizeHint() const {
  const QFontMetrics metrics(uiFont(12, QFont::DemiBold));
  return {metrics.horizontalAdvance(text()) + 28, 26};
}

void Chip::paintEvent(QPaintEvent*) {
  const Theme& theme = Theme::current();
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const QRectF area = QRectF(rect()).adjusted(1, 1, -1, -1);
  const bool on = isChecked() && isEnabled();
  painter.setPen(QPen(on || hasFocus() ? theme.accent : theme.line, hasFocus() ? 2 : 1));
  painter.setBrush(on ? theme.accentSoft : underMouse() && isEnabled() ? theme.soft : theme.cell);
  painter.drawRoundedRect(area, area.height() / 2, area.height() / 2);
  painter.setFont(uiFont(12, on ? QFont::DemiBold : QFont::Normal));
  painter.setPen(!isEnabled() ? theme.faint : on ? theme.accent : theme.dim);
  painter.drawText(rect(), Qt::AlignCenter, text());
}

void Chip::enterEvent(QEnterEvent*) { update(); }
void Chip::leaveEvent(QEvent*) { update(); }

}  // namespace tessera::ui
