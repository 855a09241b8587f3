// SPDX-License-Identifier: GPL-3.0-or-later
// The layers of ScenePainter above the cells: flows, selection, focus and drag.
#include <QFontMetricsF>
#include <QPainter>
#include <QPainterPath>
#include <algorithm>
#include <cmath>

#include "ui/canvas/paint_tools.h"
#include "ui/canvas/scene_painter.h"
#include "ui/format.h"
#include "ui/theme.h"

namespace tessera::ui {

void ScenePainter::paintFlows(QPainter& p, const std::vector<FlowPath>& paths) const {
  p.setRenderHint(QPainter::Antialiasing);
  for (const FlowPath& path : paths) {
    const bool solid = path.live && !path.stalled;
    QColor color = path.stalled ? m_theme.warn : m_theme.accent;
    color.setAlphaF(solid ? 0.45F : 0.75F);
    QPen pen(color, canvasLine(path.width), Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin);
    if (!solid) pen.setDashPattern({1.2, 2.2});
    p.strokePath(path.line, pen);
    color.setAlphaF(1);
    p.strokePath(path.head,
                 QPen(color, canvasLine(1.8), Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
  }
  // Above all lines, so that none runs through a number.
  const QFont font = canvasFont(kFlowLabelSize, QFont::Medium);
  for (const FlowPath& path : paths) {
    if (path.label.isEmpty()) continue;
    const QColor& color = path.stalled ? m_theme.warn : m_theme.accent;
    roundedRect(p, path.labelArea, path.labelArea.height() / 2, Qt::NoPen, m_theme.canvas);
    textCentered(p, path.labelArea.center().x(), baselineAt(font, path.labelArea.center().y()),
                 path.label, font, color);
  }
}

void ScenePainter::paintDots(QPainter& p, const std::vector<FlowPath>& paths,
                             double seconds) const {
  std::vector<QPointF> dots;
  p.setRenderHint(QPainter::Antialiasing);
  p.setPen(Qt::NoPen);
  p.setBrush(m_theme.accent);
  for (const FlowPath& path : paths) {
    if (!path.live || path.stalled || !path.dotted) continue;
    dots.clear();
    path.dots(seconds, &dots);
    const double radius = std::clamp(path.width * 0.5 + 1.4, 2.0, 3.2);
    for (const QPointF& dot : dots) {
      if (!path.labelArea.contains(dot)) p.drawEllipse(dot, radius, radius);
    }
  }
}

void ScenePainter::paintSelected(QPainter& p, const QRect& cell) const {
  const int side = std::min(cell.width(), cell.height());
  if (side < 16) {
    // No antialiasing, because thousands may be selected.
    p.setRenderHint(QPainter::Antialiasing, false);
    p.setPen(QPen(m_theme.accent, side >= 9 ? 2 : 1, Qt::SolidLine, Qt::SquareCap, Qt::MiterJoin));
    p.setBrush(Qt::NoBrush);
    p.drawRect(cell.adjusted(0, 0, -1, -1));
    p.setRenderHint(QPainter::Antialiasing);
    return;
  }
  const double radius = side < 36 ? 3 : side < 60 ? 6 : m_layout.metrics().cellRadius;
  roundedRect(p, QRectF(cell).adjusted(0, 0, 0, 0), radius, QPen(m_theme.accent, canvasLine(2)),
              Qt::NoBrush);
}

// A wash and a ring: the colour and pattern below stay recognisable, and the ring is no selection.
void ScenePainter::paintMember(QPainter& p, const QRect& cell) const {
  const int side = std::min(cell.width(), cell.height());
  QColor wash = m_theme.warn;
  wash.setAlphaF(0.28F);
  const double radius = side < 16   ? 1
                        : side < 36 ? 3
                        : side < 60 ? 6
                                    : m_layout.metrics().cellRadius;
  roundedRect(p, onPixels(cell), radius, QPen(m_theme.warn, canvasLine(side < 16 ? 1 : 2)), wash);
}

void ScenePainter::paintHovered(QPainter& p, const QRect& cell) const {
  const int side = std::min(cell.width(), cell.height());
  const double radius = side < 16   ? 1
                        : side < 36 ? 3
                        : side < 60 ? 6
                                    : m_layout.metrics().cellRadius;
  QColor color = m_theme.accent;
  color.setAlphaF(0.65F);
  roundedRect(p, onPixels(cell), radius, QPen(color, canvasLine(1)), Qt::NoBrush);
}

// Outside the cell, where it is visible with every cell colour.
void ScenePainter::paintCurrent(QPainter& p, const QRect& cell) const {
  const int out = std::min(cell.width(), cell.height()) >= 24 ? 3 : 2;
  QPen pen(m_theme.text, 1, Qt::CustomDashLine, Qt::FlatCap);
  pen.setDashPattern({1, 2});
  p.setRenderHint(QPainter::Antialiasing, false);
  p.setPen(pen);
  p.setBrush(Qt::NoBrush);
  p.drawRect(cell.adjusted(-out, -out, out - 1, out - 1));
  p.setRenderHint(QPainter::Antialiasing);
}

void ScenePainter::paintDropTarget(QPainter& p, bool intoMesh) const {
  QColor tint = m_theme.accent;
  tint.setAlphaF(0.08F);
  const auto mark = [&](const QRect& area, double radius) {
    roundedRect(p, onPixels(area, 2), radius, QPen(m_theme.accent, canvasLine(2)), tint);
  };
  if (!intoMesh) {
    mark(m_layout.poolRect(), 10);
    return;
  }
  if (!m_layout.dashedDropZone().isNull()) {
    mark(m_layout.dashedDropZone(), 10);
    return;
  }
  if (!m_layout.dropZoneRect().isNull()) mark(m_layout.dropZoneRect().adjusted(-5, -5, 5, 5), 10);
}

void ScenePainter::paintSwap(QPainter& p, const QRect& cell) const {
  const int side = std::min(cell.width(), cell.height());
  const double radius = side < 16 ? 1 : side < 60 ? 4 : m_layout.metrics().cellRadius;
  const int out = side < 16 ? 1 : 2;
  roundedRect(p, QRectF(cell).adjusted(-out, -out, out, out), radius + out,
              dashes(m_theme.accent, side < 16 ? 1.5 : 2, 3, 2), Qt::NoBrush);
}

void ScenePainter::paintGhost(QPainter& p, QPoint at, const std::vector<ptc::DeviceId>& devices,
                              const QString& hint, const QRect& bounds) const {
  if (devices.empty()) return;
  constexpr int kStep = 5;
  const QSize chip(64, 34);
  const auto shown = static_cast<int>(std::min<std::size_t>(3, devices.size()));
  const QFont name = canvasFont(12, QFont::DemiBold);
  const QFont words = canvasFont(12, QFont::Medium);
  const double pillWidth = hint.isEmpty() ? 0 : widthOf(words, hint) + 20;
  const QSize whole(
      static_cast<int>(std::max<double>(chip.width() + kStep * (shown - 1), pillWidth)),
      chip.height() + kStep * (shown - 1) + (hint.isEmpty() ? 0 : 34));
  QPoint corner = at + QPoint(10, 10);
  corner.setX(std::max(bounds.left(), std::min(corner.x(), bounds.right() - whole.width())));
  corner.setY(std::max(bounds.top(), std::min(corner.y(), bounds.bottom() - whole.height())));
  for (int i = shown - 1; i >= 0; --i) {
    const QRect rect(corner + QPoint(i * kStep, i * kStep), chip);
    roundedRect(p, QRectF(rect).translated(0, 2), 6, Qt::NoPen, m_theme.shadow);
    roundedRect(p, onPixels(rect), 6, QPen(m_theme.accent, 1.4), m_theme.cell);
  }
  const QRectF front(corner, chip);
  textCentered(p, front.center().x(), baselineAt(name, front.center().y()),
               format::device(devices.front()), name, m_theme.text);
  if (devices.size() > 1) {
    const QString number = format::count(static_cast<std::int64_t>(devices.size()));
    const QFont font = canvasFont(10.5, QFont::DemiBold);
    const double width = std::max(18.0, widthOf(font, number) + 10);
    const QRectF badge(front.right() - width / 2 - 2, front.top() - 7, width, 18);
    roundedRect(p, badge, 9, Qt::NoPen, m_theme.accent);
    textCentered(p, badge.center().x(), baselineAt(font, badge.center().y()), number, font,
                 ink(m_theme.accent));
  }
  if (hint.isEmpty()) return;
  const QRectF pill(corner.x(), corner.y() + chip.height() + kStep * (shown - 1) + 8.0, pillWidth,
                    26);
  roundedRect(p, pill, 6, Qt::NoPen, m_theme.text);
  textCentered(p, pill.center().x(), baselineAt(words, pill.center().y()), hint, words,
               m_theme.canvas);
}

void ScenePainter::paintPill(QPainter& p, const QRect& area, const QString& text) const {
  const QFont font = canvasFont(12, QFont::Medium);
  const double width = widthOf(font, text) + 24;
  const QRectF pill(area.center().x() - width / 2, area.bottom() - 40.0, width, 26);
  roundedRect(p, pill, 13, QPen(m_theme.warn, 1), m_theme.cell);
  textCentered(p, pill.center().x(), baselineAt(font, pill.center().y()), text, font, m_theme.warn);
}

}  // namespace tessera::ui
