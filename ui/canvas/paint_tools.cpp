// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/canvas/paint_tools.h"

#include <QFontMetricsF>
#include <QPainter>
#include <algorithm>

namespace tessera::ui {

double widthOf(const QFont& font, const QString& text) {
  return QFontMetricsF(font).horizontalAdvance(text);
}

void textLeft(QPainter& p, double x, double baseline, const QString& text, const QFont& font,
              const QColor& color) {
  p.setFont(font);
  p.setPen(color);
  p.drawText(QPointF(x, baseline), text);
}
void textRight(QPainter& p, double x, double baseline, const QString& text, const QFont& font,
               const QColor& color) {
  textLeft(p, x - widthOf(font, text), baseline, text, font, color);
}
void textCentered(QPainter& p, double x, double baseline, const QString& text, const QFont& font,
                  const QColor& color) {
  textLeft(p, x - widthOf(font, text) / 2, baseline, text, font, color);
}
double baselineAt(const QFont& font, double middle) {
  return middle + QFontMetricsF(font).capHeight() / 2;
}

QPen dashes(const QColor& color, double width, double on, double off) {
  QPen pen(color, width, Qt::CustomDashLine, Qt::FlatCap);
  pen.setDashPattern({on / width, off / width});
  return pen;
}

QRectF onPixels(const QRect& rect, double width) {
  const double inset = width / 2;
  return QRectF(rect).adjusted(inset, inset, -inset, -inset);
}

void roundedRect(QPainter& p, const QRectF& rect, double radius, const QPen& pen,
                 const QBrush& brush) {
  p.setPen(pen);
  p.setBrush(brush);
  p.drawRoundedRect(rect, radius, radius);
}

QPainterPath bandPath(const QRectF& r, double height, double radius) {
  QPainterPath path(QPointF(r.left(), r.top() + height));
  path.lineTo(r.left(), r.top() + radius);
  path.quadTo(r.topLeft(), QPointF(r.left() + radius, r.top()));
  path.lineTo(r.right() - radius, r.top());
  path.quadTo(r.topRight(), QPointF(r.right(), r.top() + radius));
  path.lineTo(r.right(), r.top() + height);
  path.closeSubpath();
  return path;
}

void fractionBar(QPainter& p, const QRectF& area, double fraction, const QColor& color) {
  if (fraction <= 0) return;
  QRectF part = area;
  part.setWidth(std::max(area.height(), area.width() * std::min(1.0, fraction)));
  p.setPen(Qt::NoPen);
  p.setBrush(color);
  p.drawRoundedRect(part, area.height() / 2, area.height() / 2);
}

}  // namespace tessera::ui
