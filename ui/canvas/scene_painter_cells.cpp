// SPDX-License-Identifier: GPL-3.0-or-later
// The cells of ScenePainter, at each level of detail.
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
namespace {

constexpr double kJoiningOpacity = 0.45;
constexpr double kDeadOpacity = 0.3;

QString memoryWords(const MeshScene::Cell& cell) {
  if (cell.total <= 0) return QString(QChar(0x2014));
  if (cell.used > 0) return format::bytesOf(cell.used, cell.total);
  if (cell.state == MeshScene::Cell::State::Receiving && cell.progress > 0) {
    const double done = cell.progress * static_cast<double>(cell.incoming);
    return format::bytesOf(static_cast<std::int64_t>(done), cell.incoming);
  }
  return ScenePainter::tr("%1 free").arg(format::bytes(cell.total));
}

}  // namespace

QColor ScenePainter::noteColor(const Cell& cell) const {
  switch (cell.state) {
    case State::Joining:
    case State::Sending:
    case State::Receiving:
      return m_theme.accent;
    case State::Stalled:
    case State::Suspect:
      return m_theme.warn;
    case State::Dead:
      return m_theme.bad;
    case State::Idle:
    case State::Healthy:
    case State::Staying:
    case State::Leaving:
    case State::Loading:
      return m_theme.dim;
  }
  return m_theme.dim;
}

QColor ScenePainter::fillOf(const Cell& cell) const {
  if (cell.state == State::Loading) return m_theme.track;
  if (!cell.piece) return cell.taken ? m_theme.soft : m_theme.cell;
  if (!cell.swatch) return m_theme.soft;
  const QColor color = m_scene.colourBy == ColourBy::Memory ? quantity(*cell.swatch / 100.0)
                                                            : identity(*cell.swatch);
  if (cell.state == State::Dead) return blend(color, m_theme.cell, kDeadOpacity);
  const bool pale = cell.state == State::Joining || cell.state == State::Leaving;
  return pale ? blend(color, m_theme.cell, kJoiningOpacity) : color;
}

Pattern ScenePainter::patternOf(const Cell& cell) const {
  return cell.swatch && m_scene.colourBy != ColourBy::Memory ? pattern(*cell.swatch)
                                                             : Pattern::Solid;
}

void ScenePainter::paintCell(QPainter& p, const QRect& rect, const Cell& cell,
                             const MeshLayout::Box& box) const {
  if (box.kind != MeshLayout::Kind::Mesh) {
    return box.chips ? paintChip(p, rect, cell) : paintPlainTile(p, rect, cell);
  }
  if (cell.state == State::Loading) return paintSkeleton(p, rect);
  switch (m_layout.metrics().detail) {
    case Detail::Card:
      return paintCard(p, rect, cell);
    case Detail::Compact:
      return paintCompact(p, rect, cell);
    case Detail::Label:
    case Detail::Number:
      return paintTile(p, rect, cell);
    case Detail::Plain:
    case Detail::Block:
      return paintPlainTile(p, rect, cell);
  }
}

void ScenePainter::paintSkeleton(QPainter& p, const QRect& rect) const {
  const double radius = std::min(m_layout.metrics().cellRadius, rect.height() / 5);
  roundedRect(p, rect, radius, Qt::NoPen, m_theme.track);
}

void ScenePainter::paintBand(QPainter& p, const QRect& rect, double height,
                             const Cell& cell) const {
  const double s = m_layout.metrics().scale;
  const double radius = m_layout.metrics().cellRadius;
  const QPainterPath path = bandPath(onPixels(rect), height, radius);
  const QColor fill = fillOf(cell);
  p.fillPath(path, fill);
  const QColor letters = ink(fill);
  const double inset = m_layout.metrics().detail == Detail::Card ? 10 * s : 7;
  const double middle = rect.top() + height / 2 + 0.5;
  const double baseline = baselineAt(m_band, middle);
  const double room = rect.width() - 2 * inset;
  const double labelWidth = widthOf(m_band, cell.label);
  const double subWidth = widthOf(m_bandSub, cell.replica);
  const bool withSub = labelWidth + subWidth + 8 <= room;
  if (const Pattern marks = patternOf(cell); marks != Pattern::Solid) {
    p.save();
    p.setClipPath(path, Qt::IntersectClip);
    paintPattern(p, rect, marks, fill);
    p.restore();
    // A plain background for the letters.
    const double tall = height * 0.6;
    roundedRect(p, {rect.left() + inset - 3, middle - tall / 2, labelWidth + 6, tall}, 4, Qt::NoPen,
                fill);
    if (withSub) {
      roundedRect(p,
                  {rect.right() + 1 - inset - subWidth - 3, middle - tall / 2, subWidth + 6, tall},
                  4, Qt::NoPen, fill);
    }
  }
  textLeft(p, rect.left() + inset, baseline,
           QFontMetricsF(m_band).elidedText(cell.label, Qt::ElideRight, room), m_band, letters);
  if (withSub) {
    textRight(p, rect.right() + 1 - inset, baseline, cell.replica, m_bandSub, letters);
  }
}

void ScenePainter::paintMemory(QPainter& p, const QRectF& area, const Cell& cell) const {
  fractionBar(p, area, 1, m_theme.track);
  if (cell.total <= 0) return;
  const auto total = static_cast<double>(cell.total);
  const auto held = static_cast<double>(std::max(cell.used, cell.incoming));
  fractionBar(p, area, held / total, cell.piece ? m_theme.dim : m_theme.faint);
  if (cell.state == State::Receiving || cell.state == State::Stalled) {
    fractionBar(p, area, held / total * cell.progress,
                cell.state == State::Stalled ? m_theme.warn : m_theme.accent);
  }
}

void ScenePainter::paintCross(QPainter& p, const QRectF& area, double width) const {
  p.setPen(QPen(m_theme.bad, width, Qt::SolidLine, Qt::RoundCap));
  p.drawLine(area.topLeft(), area.bottomRight());
  p.drawLine(area.topRight(), area.bottomLeft());
}

// Paints the state of a cell as a shape of about 14 px times `scale`.
void ScenePainter::paintMark(QPainter& p, QPointF center, double scale, const Cell& cell,
                             const QColor& color) const {
  p.save();
  p.translate(center);
  p.scale(scale, scale);
  p.setPen(Qt::NoPen);
  switch (cell.state) {
    case State::Joining:
    case State::Leaving: {
      const bool joining = cell.state == State::Joining;
      const QColor disc = color.isValid() ? color : joining ? m_theme.accent : m_theme.dim;
      p.setBrush(disc);
      p.drawEllipse(QPointF(0, 0), 7, 7);
      p.setPen(QPen(ink(disc), 1.8, Qt::SolidLine, Qt::RoundCap));
      p.drawLine(QPointF(-3.2, 0), QPointF(3.2, 0));
      if (joining) p.drawLine(QPointF(0, -3.2), QPointF(0, 3.2));
      break;
    }
    case State::Sending: {
      QPainterPath up;
      up.moveTo(-6.5, 4.5);
      up.lineTo(6.5, 4.5);
      up.lineTo(0, -5);
      up.closeSubpath();
      p.fillPath(up, color.isValid() ? color : m_theme.accent);
      break;
    }
    case State::Receiving: {
      QPainterPath down;
      down.moveTo(-6.5, -4.5);
      down.lineTo(6.5, -4.5);
      down.lineTo(0, 5);
      down.closeSubpath();
      const QColor full = color.isValid() ? color : m_theme.accent;
      QColor pale = full;
      pale.setAlphaF(0.28F);
      p.fillPath(down, pale);
      QPainterPath part;
      const double filled = m_scene.draft ? 0 : 9.5 * cell.progress;
      part.addRect(QRectF(-7, -4.5, 14, filled));
      p.fillPath(down.intersected(part), full);
      p.strokePath(down, QPen(full, 1.2, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
      break;
    }
    case State::Stalled:
      p.setBrush(color.isValid() ? color : m_theme.warn);
      p.drawRoundedRect(QRectF(-5, -5.5, 3.6, 11), 1, 1);
      p.drawRoundedRect(QRectF(1.4, -5.5, 3.6, 11), 1, 1);
      break;
    case State::Dead:
      paintCross(p, QRectF(-4.5, -4.5, 9, 9), 2.2);
      break;
    case State::Idle:
    case State::Healthy:
    case State::Staying:
    case State::Loading:
    case State::Suspect:
      break;
  }
  p.restore();
}

void ScenePainter::paintCard(QPainter& p, const QRect& rect, const Cell& cell) const {
  const CellMetrics& m = m_layout.metrics();
  const double s = m.scale;
  const double left = rect.left() + 10 * s;
  const double right = rect.right() + 1 - 10 * s;
  const double top = rect.top();
  roundedRect(p, QRectF(rect).translated(0, 1.5), m.cellRadius, Qt::NoPen, m_theme.shadow);
  roundedRect(p, onPixels(rect), m.cellRadius, Qt::NoPen, m_theme.cell);
  if (cell.piece) {
    paintBand(p, rect, 30 * s, cell);
  } else {
    p.fillPath(bandPath(onPixels(rect), 30 * s, m.cellRadius), m_theme.soft);  // not placed yet
  }
  QPen border(m_theme.line, 1);
  if (cell.state == State::Joining || cell.state == State::Leaving || !cell.piece) {
    border = dashes(m_theme.line, 1);
  }
  if (cell.state == State::Suspect) border = dashes(m_theme.warn, 1.4, 4, 3);
  if (cell.slow) border = QPen(m_theme.warn, 1.4);
  if (cell.state == State::Dead) border = QPen(m_theme.bad, 1);
  roundedRect(p, onPixels(rect), m.cellRadius, border, Qt::NoBrush);

  const QString name = format::device(cell.id);
  textLeft(p, left, top + 51 * s, name, m_name,
           cell.piece && cell.state != State::Dead ? m_theme.text : m_theme.dim);
  // "receives 118 MiB" may not fit beside a long name; the amount alone is shown then.
  const double room = right - left - widthOf(m_name, name) - 6 * s;
  QString note = cell.note;
  if (widthOf(m_note, note) > room) note = note.section(QLatin1Char(' '), 1);
  note = QFontMetricsF(m_note).elidedText(note.isEmpty() ? cell.note : note, Qt::ElideRight, room);
  textRight(p, right, top + 51 * s, note, m_note, noteColor(cell));
  paintMemory(p, {left, top + 66 * s, right - left, 6 * s}, cell);
  textLeft(p, left, top + 90 * s, memoryWords(cell), m_small, m_theme.dim);
  paintMark(p, {right - 7 * s, top + 87 * s}, s, cell);
}

void ScenePainter::paintCompact(QPainter& p, const QRect& rect, const Cell& cell) const {
  const CellMetrics& m = m_layout.metrics();
  const double left = rect.left() + 7;
  const double right = rect.right() + 1 - 7;
  roundedRect(p, QRectF(rect).translated(0, 1), m.cellRadius, Qt::NoPen, m_theme.shadow);
  roundedRect(p, onPixels(rect), m.cellRadius, Qt::NoPen, m_theme.cell);
  const double band = rect.height() >= 60 ? 22 : 20;
  if (cell.piece) {
    paintBand(p, rect, band, cell);
  } else {
    p.fillPath(bandPath(onPixels(rect), band, m.cellRadius), m_theme.soft);
  }
  QPen border(m_theme.line, 1);
  if (cell.state == State::Joining || cell.state == State::Leaving || !cell.piece) {
    border = dashes(m_theme.line, 1, 4, 3);
  }
  if (cell.state == State::Suspect) border = dashes(m_theme.warn, 1.4, 4, 3);
  if (cell.slow) border = QPen(m_theme.warn, 1.4);
  if (cell.state == State::Dead) border = QPen(m_theme.bad, 1);
  roundedRect(p, onPixels(rect), m.cellRadius, border, Qt::NoBrush);

  const double barTop = rect.bottom() + 1 - (rect.height() >= 60 ? 12 : 10);
  const double middle = (rect.top() + band + barTop) / 2;
  const QString name = format::device(cell.id);
  textLeft(p, left, baselineAt(m_name, middle), name, m_name,
           cell.piece && cell.state != State::Dead ? m_theme.text : m_theme.dim);
  const double room = right - left - widthOf(m_name, name) - 5;
  const bool marked = cell.state == State::Joining || cell.state == State::Leaving ||
                      cell.state == State::Sending || cell.state == State::Stalled ||
                      cell.state == State::Dead;
  if (!marked && widthOf(m_note, cell.note) <= room) {
    textRight(p, right, baselineAt(m_note, middle), cell.note, m_note, noteColor(cell));
  } else {
    paintMark(p, {right - 5, middle}, 0.75, cell);
  }
  paintMemory(p, {left, barTop, right - left, 4}, cell);
}

void ScenePainter::paintTile(QPainter& p, const QRect& rect, const Cell& cell) const {
  const CellMetrics& m = m_layout.metrics();
  const QColor fill = fillOf(cell);
  const QColor letters = cell.piece ? ink(fill) : m_theme.dim;
  QPen border(blend(m_theme.text, fill, cell.piece ? 0.16 : 0.10), 1);
  if (!cell.piece) border = QPen(m_theme.line, 1);
  if (cell.state == State::Joining) border = dashes(m_theme.accent, 1.2, 3, 2);
  if (cell.state == State::Leaving) border = dashes(m_theme.dim, 1.2, 3, 2);
  if (cell.state == State::Suspect) border = dashes(m_theme.warn, 1.4, 3, 2);
  if (cell.slow) border = QPen(m_theme.warn, 1.4);
  const Pattern marks = patternOf(cell);
  roundedRect(p, onPixels(rect), m.cellRadius, Qt::NoPen, fill);
  if (marks != Pattern::Solid && cell.state != State::Dead) {
    // Pale, so that letters above it are readable.
    paintPattern(p, QRectF(rect).adjusted(1, 1, -1, -1), marks, fill, 0.5);
  }
  roundedRect(p, onPixels(rect), m.cellRadius, border, Qt::NoBrush);

  if (cell.state == State::Dead) {
    const double arm = std::min(rect.width(), rect.height()) * 0.28;
    const QPointF middle = QRectF(rect).center();
    paintCross(p, {middle - QPointF(arm, arm), middle + QPointF(arm, arm)}, 1.6);
    return;
  }
  if (m.detail == Detail::Label) {
    paintLabelTile(p, rect, cell, letters);
    return;
  }
  const bool moves = cell.state == State::Receiving || cell.state == State::Stalled;
  if (cell.piece || cell.taken) {
    const int number = m_ranksFit && cell.rank ? *cell.rank : cell.id.index;
    textCentered(p, rect.center().x() + 0.5,
                 baselineAt(m_tile, rect.center().y() + (moves ? -0.5 : 0.5)),
                 QString::number(number), m_tile, letters);
  }
  if (moves) {
    const QRectF area(rect.left() + 2, rect.bottom() - 3, rect.width() - 4, 3);
    p.fillRect(area, m_theme.cell);
    p.fillRect(QRectF(area.topLeft(), QSizeF(area.width() * cell.progress, area.height())),
               cell.state == State::Stalled ? m_theme.warn : m_theme.accent);
  } else if (cell.state == State::Sending) {
    paintMark(p, {rect.right() - 3.0, rect.top() + 4.0}, 0.42, cell, letters);
  }
}

void ScenePainter::paintLabelTile(QPainter& p, const QRect& rect, const Cell& cell,
                                  const QColor& letters) const {
  const double left = rect.left() + 5;
  const double right = rect.right() + 1 - 5;
  const bool tall = rect.height() >= 38;
  textLeft(p, left, rect.top() + 14, QStringLiteral("g%1").arg(cell.id.index), m_name, letters);
  if (tall && cell.piece) {
    // "pp 1 · tp 0" without spaces if it is too long.
    QString label = cell.label;
    if (widthOf(m_small, label) > right - left) label.remove(QLatin1Char(' '));
    textLeft(p, left, rect.top() + 27, label, m_small, letters);
  }
  if (cell.piece && cell.total > 0) {
    const QRectF area(left, rect.bottom() - (tall ? 6 : 7), right - left, 3);
    QColor track = letters;
    track.setAlphaF(0.25F);
    fractionBar(p, area, 1, track);
    fractionBar(
        p, area,
        static_cast<double>(std::max(cell.used, cell.incoming)) / static_cast<double>(cell.total),
        letters);
  }
  paintMark(p, {right - 3.5, rect.top() + 10.0}, 0.6, cell, letters);
}

// No antialiasing, because thousands of these are drawn at once.
void ScenePainter::paintPlainTile(QPainter& p, const QRect& rect, const Cell& cell) const {
  const QColor fill = fillOf(cell);
  const int side = rect.width();
  if (side >= 7) {
    const bool changes = cell.state == State::Joining || cell.state == State::Receiving ||
                         cell.state == State::Leaving;
    const QColor border = changes ? m_theme.accent
                          : cell.slow || cell.state == State::Suspect || cell.state == State::Stalled
                              ? m_theme.warn
                          : cell.piece ? blend(m_theme.text, fill, 0.16)
                                       : m_theme.line;
    p.fillRect(rect, border);
    p.fillRect(rect.adjusted(1, 1, -1, -1), fill);
  } else {
    p.fillRect(rect, cell.piece ? fill : m_theme.line);
  }
  if (cell.state == State::Dead) {
    const double arm = side * 0.28;
    const QPointF middle = QRectF(rect).center();
    if (side >= 5) paintCross(p, {middle - QPointF(arm, arm), middle + QPointF(arm, arm)}, 1.3);
    return;
  }
  if (side >= 11 && patternOf(cell) != Pattern::Solid) {
    paintPattern(p, rect.adjusted(1, 1, -1, -1), patternOf(cell), fill);
  }
  if (side >= 7 && cell.state == State::Receiving) {
    // The received part, from the bottom up.
    const int filled = static_cast<int>(std::lround((side - 2) * cell.progress));
    p.fillRect(QRect(rect.right() - 2, rect.bottom() - filled, 2, filled), m_theme.accent);
  } else if (side >= 9 && cell.state == State::Sending) {
    paintMark(p, {rect.right() - 2.5, rect.top() + 3.5}, 0.38, cell, ink(fill));
  }
}

void ScenePainter::paintChip(QPainter& p, const QRect& rect, const Cell& cell) const {
  const bool leaving = cell.state == State::Leaving;
  QPen border(m_theme.line, 1);
  if (leaving) border = dashes(m_theme.accent, 1.2, 4, 3);
  if (cell.state == State::Suspect) border = dashes(m_theme.warn, 1.4, 4, 3);
  if (cell.slow) border = QPen(m_theme.warn, 1.4);
  if (cell.state == State::Dead) border = QPen(m_theme.bad, 1);
  roundedRect(p, onPixels(rect), 6, border,
              cell.state == State::Loading ? m_theme.track
              : cell.taken                 ? m_theme.soft
                                           : m_theme.cell);
  const QFont font = canvasFont(rect.height() >= 32   ? 12
                                : rect.height() >= 24 ? 11
                                                      : 9.5,
                                QFont::Medium);
  // The frame of another job may hold devices of several nodes.
  QString name = QStringLiteral("g%1").arg(cell.id.index);
  if (cell.taken && widthOf(font, format::device(cell.id)) <= rect.width() - 6) {
    name = format::device(cell.id);
  }
  const bool marked = leaving || cell.state == State::Dead;
  const bool roomy = rect.width() >= 40;
  const double shift = marked && roomy ? 8 : 0;
  textCentered(p, QRectF(rect).center().x() - shift, baselineAt(font, QRectF(rect).center().y()),
               name, font, cell.state == State::Loading ? m_theme.faint : m_theme.dim);
  if (marked && roomy) paintMark(p, {rect.right() - 12.0, QRectF(rect).center().y()}, 0.8, cell);
  if (marked && !roomy) paintMark(p, {rect.right() - 3.0, rect.top() + 4.0}, 0.5, cell);
}

// As an outline, which hides neither name nor colour. Cards say it in their notes.
void ScenePainter::paintDifference(QPainter& p, const QRect& rect, const Cell& cell) const {
  if (m_layout.metrics().detail == Detail::Card) return;
  const int side = std::min(rect.width(), rect.height());
  const QColor color = cell.mark == Cell::Mark::Joined ? m_theme.accent
                       : cell.mark == Cell::Mark::Left ? m_theme.bad
                                                       : m_theme.warn;
  if (side < 7) {  // no room for an outline
    p.fillRect(rect, color);
    return;
  }
  p.save();
  p.setRenderHint(QPainter::Antialiasing, false);
  // Cells of the earlier layout are dashed: they are empty in this one.
  p.setPen(cell.mark == Cell::Mark::Left
               ? dashes(color, 2, 2, 2)
               : QPen(color, 2, Qt::SolidLine, Qt::SquareCap, Qt::MiterJoin));
  p.setBrush(Qt::NoBrush);
  p.drawRect(rect.adjusted(1, 1, -1, -1));
  p.restore();
}

}  // namespace tessera::ui
