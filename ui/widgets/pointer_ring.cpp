// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widgets/pointer_ring.h"

#include <QApplication>
#include <QMouseEvent>
#include <QPainter>

#include "ui/theme.h"

namespace tessera::ui {

PointerRing::PointerRing(QWidget* window) : QWidget(window) {
  setAttribute(Qt::WA_TransparentForMouseEvents);
  setFocusPolicy(Qt::NoFocus);
  resize(kSize, kSize);
  hide();
}

void PointerRing::setActive(bool active) {
  if (active == m_active) return;
  m_active = active;
  if (active) {
    qApp->installEventFilter(this);
  } else {
    qApp->removeEventFilter(this);
    hide();
  }
}

bool PointerRing::eventFilter(QObject* watched, QEvent* event) {
  const QEvent::Type type = event->type();
  const bool mouse = type == QEvent::MouseMove || type == QEvent::MouseButtonPress ||
                     type == QEvent::MouseButtonRelease || type == QEvent::HoverMove;
  if (mouse && watched->isWidgetType()) {
    const QPoint at = parentWidget()->mapFromGlobal(QCursor::pos());
    move(at - QPoint(kSize / 2, kSize / 2));
    if (type == QEvent::MouseButtonPress) m_pressed = true;
    if (type == QEvent::MouseButtonRelease) m_pressed = false;
    setVisible(parentWidget()->rect().contains(at));
    raise();
    update();
  }
  return QWidget::eventFilter(watched, event);
}

void PointerRing::paintEvent(QPaintEvent*) {
  const Theme& theme = Theme::current();
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  QColor inside = theme.accent;
  inside.setAlpha(m_pressed ? 90 : 24);
  painter.setPen(QPen(theme.accent, 3));
  painter.setBrush(inside);
  painter.drawEllipse(QRectF(rect()).adjusted(4, 4, -4, -4));
}

}  // namespace tessera::ui
