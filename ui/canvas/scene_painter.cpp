// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/canvas/scene_painter.h"

#include <QCoreApplication>
#include <QFontMetricsF>
#include <QPainter>
#include <QPainterPath>
#include <algorithm>
#include <cmath>

#include "ui/format.h"
#include "ui/theme.h"

namespace tessera::ui {
namespace {

using State = MeshScene::Cell::State;

constexpr double kJoiningOpacity = 0.45;
constexpr double kDeadOpacity = 0.3;
constexpr double kFadedOpacity = 0.25;  // of cells beside an isolated swatch

struct ScenePainterWords {
  Q_DECLARE_TR_FUNCTIONS(tessera::ui::ScenePainter)
};

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
// The baseline that centres capitals on `middle`.
double baselineAt(const QFont& font, double middle) {
  return middle + QFontMetricsF(font).capHeight() / 2;
}

QPen dashes(const QColor& color, double width, double on = 5, double off = 4) {
  QPen pen(color, width, Qt::CustomDashLine, Qt::FlatCap);
  pen.setDashPattern({on / width, off / width});
  return pen;
}

// A one-pixel border belongs on pixel centres.
QRectF onPixels(const QRect& rect, double width = 1) {
  const double inset = width / 2;
  return QRectF(rect).adjusted(inset, inset, -inset, -inset);
}

void roundedRect(QPainter& p, const QRectF& rect, double radius, const QPen& pen,
                 const QBrush& brush) {
  p.setPen(pen);
  p.setBrush(brush);
  p.drawRoundedRect(rect, radius, radius);
}

// The upper part of a rounded rectangle.
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

void bar(QPainter& p, const QRectF& area, double fraction, const QColor& color) {
  if (fraction <= 0) return;
  QRectF part = area;
  part.setWidth(std::max(area.height(), area.width() * std::min(1.0, fraction)));
  p.setPen(Qt::NoPen);
  p.setBrush(color);
  p.drawRoundedRect(part, area.height() / 2, area.height() / 2);
}

QString memoryWords(const MeshScene::Cell& cell) {
  if (cell.total <= 0) return QString(QChar(0x2014));
  if (cell.used > 0) return format::bytesOf(cell.used, cell.total);
  if (cell.state == State::Receiving && cell.progress > 0) {
    const double done = cell.progress * static_cast<double>(cell.incoming);
    return format::bytesOf(static_cast<std::int64_t>(done), cell.incoming);
  }
  return ScenePainterWords::tr("%1 free").arg(format::bytes(cell.total));
}

int digits(int number) { return number < 10 ? 1 : number < 100 ? 2 : number < 1000 ? 3 : 4; }

}  // namespace

ScenePainter::ScenePainter(const MeshScene& scene, const MeshLayout& layout, const Theme& theme,
                           bool editable)
    : m_scene(scene), m_layout(layout), m_theme(theme), m_editable(editable) {
  const CellMetrics& m = layout.metrics();
  switch (m.detail) {
    case Detail::Card:
      m_band = uiFont(12.5 * m.scale, QFont::DemiBold);
      m_bandSub = uiFont(11 * m.scale);
      m_name = uiFont(13 * m.scale, QFont::DemiBold);
      m_note = uiFont(11 * m.scale, QFont::Medium);
      m_small = uiFont(11 * m.scale);
      m_node = uiFont(13, QFont::DemiBold);
      m_nodeSub = uiFont(11.5);
      break;
    case Detail::Compact:
      m_band = uiFont(10.5, QFont::DemiBold);
      m_bandSub = uiFont(10);
      m_name = uiFont(11.5, QFont::DemiBold);
      m_note = uiFont(10, QFont::Medium);
      m_small = uiFont(10);
      m_node = uiFont(12, QFont::DemiBold);
      m_nodeSub = uiFont(10.5);
      break;
    case Detail::Label:
    case Detail::Number:
    case Detail::Plain:
    case Detail::Block:
      m_name = uiFont(10.5, QFont::DemiBold);
      m_small = uiFont(9.5);
      m_node = uiFont(m.header >= 18 ? 10 : 8.5, QFont::DemiBold);
      m_nodeSub = uiFont(m.header >= 18 ? 9 : 8);
      break;
  }
  m_tile = uiFont(std::clamp(m.width * 0.5, 8.5, 11.5), QFont::Medium);
  if (m.detail == Detail::Number) {
    int longest = 1;
    for (const auto& node : scene.nodes) {
      for (const auto& cell : node.cells)
        longest = std::max(longest, digits(cell.rank.value_or(0)));
    }
    m_ranksFit = widthOf(m_tile, QString(longest, QLatin1Char('0'))) <= m.width - 3;
  }
}

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

void ScenePainter::paintAll(QPainter& p, const QRect& clip) const {
  p.setRenderHint(QPainter::Antialiasing);
  p.fillRect(clip, m_theme.canvas);
  if (m_scene.nodes.empty()) return;
  if (m_layout.hasTray()) {
    paintTray(p);
  } else {
    for (const QRect& area : m_layout.poolAreas()) {
      roundedRect(p, onPixels(area), 8, dashes(m_theme.line, 1.2, 6, 5), Qt::NoBrush);
    }
  }
  paintDropZone(p);
  for (const auto& box : m_layout.boxes()) {
    if (box.frame.adjusted(0, 0, 0, 2).intersects(clip)) paintBox(p, box, clip);
  }
}

void ScenePainter::paintTray(QPainter& p) const {
  const QRect area = m_layout.poolAreas().back();
  roundedRect(p, onPixels(area), 10, dashes(m_theme.line, 1.2, 6, 5), m_theme.canvas);
  int idle = 0, taken = 0, lost = 0;
  for (const auto& node : m_scene.nodes) {
    for (const auto& cell : node.cells) {
      const bool dead = cell.state == MeshScene::Cell::State::Dead;
      lost += !cell.inMesh && !cell.taken && dead;
      idle += !cell.inMesh && !cell.taken && !dead;
      taken += cell.taken;
    }
  }
  const QFont title = uiFont(13, QFont::DemiBold);
  const QFont hint = uiFont(11.5);
  const bool slim = area.height() < 60;
  const double y = slim ? baselineAt(title, area.center().y() + 0.5) : area.top() + 22;
  const QString name = ScenePainterWords::tr("Pool");
  textLeft(p, area.left() + 14, y, name, title, m_theme.text);
  QString count = idle == 0 && lost == 0
                      ? ScenePainterWords::tr("empty")
                      : ScenePainterWords::tr("%1 idle", "4 GPUs idle").arg(format::gpus(idle));
  if (lost > 0) count += ScenePainterWords::tr(", %1 lost").arg(lost);
  if (taken > 0) count += ScenePainterWords::tr(" · %1 in other jobs").arg(taken);
  const double after = area.left() + 14 + widthOf(title, name) + 10;
  textLeft(p, after, y, count, hint, m_theme.dim);
  if (idle + taken + lost == 0 && m_editable && !m_scene.jobName.isEmpty()) {
    const QFont font = uiFont(12);
    textCentered(p, area.center().x(),
                 slim ? baselineAt(font, area.center().y() + 0.5) : area.top() + 62,
                 ScenePainterWords::tr("drop GPUs here to take them out of the job"), font, m_theme.dim);
  }
}

void ScenePainter::paintDropZone(QPainter& p) const {
  const QRect zone = m_layout.dashedDropZone();
  if (zone.isNull()) return;
  roundedRect(p, onPixels(zone), 10, dashes(m_theme.line, 1.4, 6, 5), m_theme.canvas);
  const QFont first = uiFont(12.5, QFont::Medium);
  const QFont second = uiFont(11.5);
  const double x = zone.center().x() + 0.5;
  const double y = zone.center().y() + 0.5;
  if (m_scene.jobName.isEmpty()) {
    textCentered(p, x, baselineAt(first, y), m_scene.emptyHint, first, m_theme.dim);
    return;
  }
  const QString title = QFontMetricsF(first).elidedText(
      ScenePainterWords::tr("Drag GPUs here to add them to %1").arg(m_scene.jobName), Qt::ElideRight,
      zone.width() - 16);
  textCentered(p, x, y - 4, title, first, m_theme.dim);
  textCentered(p, x, y + 15, ScenePainterWords::tr("or select them in the pool and press Space"), second,
               m_theme.dim);
}

void ScenePainter::patchBox(QPainter& p, const MeshLayout::Box& box, const QRegion& clip) const {
  p.save();
  p.setRenderHint(QPainter::Antialiasing);
  p.setClipRegion(clip);
  // Smooth edges must not be painted over themselves.
  p.fillRect(clip.boundingRect(), m_theme.canvas);
  paintBox(p, box, clip);
  p.restore();
}

void ScenePainter::paintBox(QPainter& p, const MeshLayout::Box& box, const QRegion& clip) const {
  const CellMetrics& m = m_layout.metrics();
  const auto& node = m_scene.nodes[static_cast<std::size_t>(box.node)];
  const bool inTray = box.pool && m_layout.hasTray();

  QPen border(m_theme.line, 1);
  QColor caption = m_theme.dim;
  switch (node.state) {
    case engine::NodeState::kSuspect:
      border = dashes(m_theme.warn, 1.4, 4, 3);
      caption = m_theme.warn;
      break;
    case engine::NodeState::kUnmanaged:
      border = QPen(m_theme.warn, 1);
      caption = m_theme.warn;
      break;
    case engine::NodeState::kDead:
    case engine::NodeState::kLeft:
      border = QPen(m_theme.bad, 1.4);
      caption = m_theme.bad;
      break;
    case engine::NodeState::kJoining:
    case engine::NodeState::kAlive:
      if (node.highlighted && !box.pool) border = QPen(m_theme.accent, 1);
      break;
  }
  if (m.detail != Detail::Block) {
    roundedRect(p, onPixels(box.frame, border.widthF()), inTray ? 8 : m.radius, border,
                m_theme.frame);
  }
  if (node.state == engine::NodeState::kUnmanaged && m.width >= 9) {
    QPainterPath inside;
    inside.addRoundedRect(onPixels(box.frame), m.radius, m.radius);
    p.save();
    p.setClipPath(inside, Qt::IntersectClip);
    p.setPen(QPen(blend(m_theme.warn, m_theme.frame, 0.28), 1));
    for (int x = box.frame.left() - box.frame.height(); x < box.frame.right(); x += 8) {
      p.drawLine(x, box.frame.bottom() + 1, x + box.frame.height() + 1, box.frame.top());
    }
    p.restore();
  }

  const bool troubled = caption != m_theme.dim;
  if (inTray) {
    const QFont font = uiFont(12, QFont::DemiBold);
    textCentered(p, (box.frame.left() + box.origin.x()) / 2.0,
                 baselineAt(font, box.frame.center().y() + 0.5), node.name, font,
                 troubled ? caption : m_theme.text);
  } else if (!m.isTile()) {
    const double baseline = box.frame.top() + m.header * 0.65;
    const double left = box.frame.left() + m.gap + 2;
    const double right = box.frame.right() - m.gap - 1;
    textLeft(p, left, baseline, node.name, m_node, m_theme.text);
    const double room = right - left - widthOf(m_node, node.name) - 8;
    textRight(p, right, baseline,
              QFontMetricsF(m_nodeSub).elidedText(node.subtitle, Qt::ElideRight, room), m_nodeSub,
              caption);
  } else if (m.header >= 13) {
    const double baseline = box.frame.top() + (m.header >= 18 ? 13 : 10);
    const double left = box.frame.left() + m.footer;
    const double right = box.frame.right() + 1 - m.footer;
    textLeft(p, left, baseline, node.name, m_node, caption);
    const QString state = troubled   ? format::wait(node.lastSeen)
                          : box.pool ? ScenePainterWords::tr("pool")
                                     : QString();
    if (!state.isEmpty() &&
        widthOf(m_node, node.name) + widthOf(m_nodeSub, state) + 6 < right - left) {
      textRight(p, right, baseline, state, m_nodeSub, caption);
    }
  }

  if (box.skeleton) {
    for (int i = 0; i < box.numCells; ++i) paintSkeleton(p, box.cellRect(i));
    return;
  }
  const bool dimmed = node.state == engine::NodeState::kUnmanaged;
  if (dimmed) p.setOpacity(0.5);
  for (std::size_t i = 0; i < box.cells.size(); ++i) {
    const auto& cell = node.cells[static_cast<std::size_t>(box.cells[i])];
    const QRect rect = box.cellRect(static_cast<int>(i));
    if (!clip.intersects(rect.adjusted(0, 0, 0, 2))) continue;
    const bool faded = m_scene.isolated && cell.swatch != m_scene.isolated;
    if (faded) p.setOpacity(p.opacity() * kFadedOpacity);
    paintCell(p, rect, cell, inTray);
    if (faded) p.setOpacity(dimmed ? 0.5 : 1);
  }
  if (dimmed) p.setOpacity(1);
}

void ScenePainter::paintCell(QPainter& p, const QRect& rect, const Cell& cell, bool chip) const {
  if (chip) return paintChip(p, rect, cell);
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
    // Letters stand on plain colour.
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
  bar(p, area, 1, m_theme.track);
  if (cell.total <= 0) return;
  const auto total = static_cast<double>(cell.total);
  const auto held = static_cast<double>(std::max(cell.used, cell.incoming));
  bar(p, area, held / total, cell.piece ? m_theme.dim : m_theme.faint);
  if (cell.state == State::Receiving || cell.state == State::Stalled) {
    bar(p, area, held / total * cell.progress,
        cell.state == State::Stalled ? m_theme.warn : m_theme.accent);
  }
}

void ScenePainter::paintCross(QPainter& p, const QRectF& area, double width) const {
  p.setPen(QPen(m_theme.bad, width, Qt::SolidLine, Qt::RoundCap));
  p.drawLine(area.topLeft(), area.bottomRight());
  p.drawLine(area.topRight(), area.bottomLeft());
}

// The state of a cell as a shape of about 14 px times `scale`.
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
  if (cell.state == State::Dead) border = QPen(m_theme.bad, 1);
  roundedRect(p, onPixels(rect), m.cellRadius, border, Qt::NoBrush);

  const QString name = format::device(cell.id);
  textLeft(p, left, top + 51 * s, name, m_name,
           cell.piece && cell.state != State::Dead ? m_theme.text : m_theme.dim);
  // "receives 118 MiB" may not fit beside a long name: the amount is what matters then.
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
  const Pattern marks = patternOf(cell);
  roundedRect(p, onPixels(rect), m.cellRadius, Qt::NoPen, fill);
  if (marks != Pattern::Solid && cell.state != State::Dead) {
    // Pale enough to read letters over it.
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
    // "pp 1 · tp 0" without its spaces where it is too long.
    QString label = cell.label;
    if (widthOf(m_small, label) > right - left) label.remove(QLatin1Char(' '));
    textLeft(p, left, rect.top() + 27, label, m_small, letters);
  }
  if (cell.piece && cell.total > 0) {
    const QRectF area(left, rect.bottom() - (tall ? 6 : 7), right - left, 3);
    QColor track = letters;
    track.setAlphaF(0.25F);
    bar(p, area, 1, track);
    bar(p, area,
        static_cast<double>(std::max(cell.used, cell.incoming)) / static_cast<double>(cell.total),
        letters);
  }
  paintMark(p, {right - 3.5, rect.top() + 10.0}, 0.6, cell, letters);
}

// Without antialiasing: thousands of these are drawn at once.
void ScenePainter::paintPlainTile(QPainter& p, const QRect& rect, const Cell& cell) const {
  const QColor fill = fillOf(cell);
  const int side = rect.width();
  if (side >= 7) {
    const QColor border =
        cell.state == State::Joining || cell.state == State::Receiving ? m_theme.accent
        : cell.state == State::Suspect || cell.state == State::Stalled ? m_theme.warn
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
    // The part that has come, from the bottom up.
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
  if (cell.state == State::Dead) border = QPen(m_theme.bad, 1);
  roundedRect(p, onPixels(rect), 6, border,
              cell.state == State::Loading ? m_theme.track
              : cell.taken                 ? m_theme.soft
                                           : m_theme.cell);
  const QFont font = uiFont(rect.height() >= 32 ? 12 : 11, QFont::Medium);
  const QString name = QStringLiteral("g%1").arg(cell.id.index);
  const bool marked = leaving || cell.state == State::Dead;
  const double shift = marked ? 8 : 0;
  textCentered(p, QRectF(rect).center().x() - shift, baselineAt(font, QRectF(rect).center().y()),
               name, font, cell.state == State::Loading ? m_theme.faint : m_theme.dim);
  if (marked) paintMark(p, {rect.right() - 12.0, QRectF(rect).center().y()}, 0.8, cell);
}

void ScenePainter::paintFlows(QPainter& p, const std::vector<FlowPath>& paths) const {
  p.setRenderHint(QPainter::Antialiasing);
  for (const FlowPath& path : paths) {
    const bool solid = path.live && !path.stalled;
    QColor color = path.stalled ? m_theme.warn : m_theme.accent;
    if (paths.size() > kMaxSingleFlows) {
      // Thousands of pixels each, hundreds of them: hairlines are drawn ten times faster, and the
      // cells stay visible. Bytes show as strength.
      color.setAlphaF(static_cast<float>(std::clamp(0.1 * path.width, 0.12, 0.4)));
      p.setPen(QPen(color, 0, solid ? Qt::SolidLine : Qt::DotLine));
      p.drawPolyline(path.points.data(), static_cast<int>(path.points.size()));
      continue;
    }
    color.setAlphaF(!solid ? 0.75F : path.bundle ? 0.38F : 0.45F);
    QPen pen(color, path.width, Qt::SolidLine, path.bundle ? Qt::FlatCap : Qt::RoundCap,
             Qt::RoundJoin);
    if (!solid) {
      pen.setCapStyle(Qt::RoundCap);
      pen.setDashPattern({1.2, 2.2});
    }
    p.strokePath(path.line, pen);
    color.setAlphaF(1);
    p.strokePath(path.head, QPen(color, 1.8, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
  }
}

void ScenePainter::paintDots(QPainter& p, const std::vector<FlowPath>& paths,
                             double seconds) const {
  std::vector<QPointF> dots;
  if (paths.size() > kMaxSingleFlows) {
    for (const FlowPath& path : paths) {
      if (path.live && !path.stalled) path.dots(seconds, &dots);
    }
    for (const QPointF& dot : dots)
      p.fillRect(QRectF(dot.x() - 1, dot.y() - 1, 2, 2), m_theme.accent);
    return;
  }
  p.setRenderHint(QPainter::Antialiasing);
  p.setPen(Qt::NoPen);
  p.setBrush(m_theme.accent);
  for (const FlowPath& path : paths) {
    if (!path.live || path.stalled || !path.dotted) continue;
    dots.clear();
    path.dots(seconds, &dots);
    const double radius = std::clamp(path.width * 0.5 + 1.4, 2.0, 3.2);
    for (const QPointF& dot : dots) p.drawEllipse(dot, radius, radius);
  }
}

void ScenePainter::paintSelected(QPainter& p, const QRect& cell) const {
  const int side = std::min(cell.width(), cell.height());
  if (side < 16) {
    // Straight and crisp: thousands may be selected.
    p.setRenderHint(QPainter::Antialiasing, false);
    p.setPen(QPen(m_theme.accent, side >= 9 ? 2 : 1, Qt::SolidLine, Qt::SquareCap, Qt::MiterJoin));
    p.setBrush(Qt::NoBrush);
    p.drawRect(cell.adjusted(0, 0, -1, -1));
    p.setRenderHint(QPainter::Antialiasing);
    return;
  }
  const double radius = side < 36 ? 3 : side < 60 ? 6 : m_layout.metrics().cellRadius;
  roundedRect(p, QRectF(cell).adjusted(0, 0, 0, 0), radius, QPen(m_theme.accent, 2), Qt::NoBrush);
}

void ScenePainter::paintHovered(QPainter& p, const QRect& cell) const {
  const int side = std::min(cell.width(), cell.height());
  const double radius = side < 16   ? 1
                        : side < 36 ? 3
                        : side < 60 ? 6
                                    : m_layout.metrics().cellRadius;
  QColor color = m_theme.accent;
  color.setAlphaF(0.65F);
  roundedRect(p, onPixels(cell), radius, QPen(color, 1), Qt::NoBrush);
}

// Outside the cell, where it shows whatever the cell's colour.
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
    roundedRect(p, onPixels(area, 2), radius, QPen(m_theme.accent, 2), tint);
  };
  if (!intoMesh) {
    for (const QRect& area : m_layout.poolAreas()) mark(area, 10);
    return;
  }
  if (!m_layout.dashedDropZone().isNull()) {
    mark(m_layout.dashedDropZone(), 10);
    return;
  }
  if (!m_layout.dropZoneRect().isNull()) mark(m_layout.dropZoneRect().adjusted(-5, -5, 5, 5), 10);
}

void ScenePainter::paintGhost(QPainter& p, QPoint at, const std::vector<ptc::DeviceId>& devices,
                              const QString& hint, const QRect& bounds) const {
  if (devices.empty()) return;
  constexpr int kStep = 5;
  const QSize chip(64, 34);
  const auto shown = static_cast<int>(std::min<std::size_t>(3, devices.size()));
  const QFont name = uiFont(12, QFont::DemiBold);
  const QFont words = uiFont(12, QFont::Medium);
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
    const QFont font = uiFont(10.5, QFont::DemiBold);
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
  const QFont font = uiFont(12, QFont::Medium);
  const double width = widthOf(font, text) + 24;
  const QRectF pill(area.center().x() - width / 2, area.bottom() - 40.0, width, 26);
  roundedRect(p, pill, 13, QPen(m_theme.warn, 1), m_theme.cell);
  textCentered(p, pill.center().x(), baselineAt(font, pill.center().y()), text, font, m_theme.warn);
}

}  // namespace tessera::ui
