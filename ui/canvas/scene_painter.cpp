// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/canvas/scene_painter.h"

#include <QFontMetricsF>
#include <QPainter>
#include <algorithm>

#include "ui/canvas/paint_tools.h"
#include "ui/format.h"
#include "ui/theme.h"

namespace tessera::ui {
namespace {

constexpr double kFadedOpacity = 0.25;  // of cells with other swatches than the isolated one

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
      const bool dead = cell.state == State::Dead;
      lost += !cell.inMesh && !cell.taken && dead;
      idle += !cell.inMesh && !cell.taken && !dead;
      taken += cell.taken;
    }
  }
  const QFont title = uiFont(13, QFont::DemiBold);
  const QFont hint = uiFont(11.5);
  const bool slim = area.height() < 60;
  const double y = slim ? baselineAt(title, area.center().y() + 0.5) : area.top() + 22;
  const QString name = tr("Pool");
  textLeft(p, area.left() + 14, y, name, title, m_theme.text);
  QString count =
      idle == 0 && lost == 0 ? tr("empty") : tr("%1 idle", "4 GPUs idle").arg(format::gpus(idle));
  if (lost > 0) count += tr(", %1 lost").arg(lost);
  if (taken > 0) count += tr(" · %1 in other jobs").arg(taken);
  const double after = area.left() + 14 + widthOf(title, name) + 10;
  textLeft(p, after, y, count, hint, m_theme.dim);
  if (idle + taken + lost == 0 && m_editable && !m_scene.jobName.isEmpty()) {
    const QFont font = uiFont(12);
    textCentered(p, area.center().x(),
                 slim ? baselineAt(font, area.center().y() + 0.5) : area.top() + 62,
                 tr("drop GPUs here to remove them from the job"), font, m_theme.dim);
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
  const auto fit = [&](const QFont& font, const QString& text) {
    return QFontMetricsF(font).elidedText(text, Qt::ElideRight, zone.width() - 16);
  };
  textCentered(p, x, y - 4, fit(first, tr("Drag GPUs here to add them to %1").arg(m_scene.jobName)),
               first, m_theme.dim);
  textCentered(p, x, y + 15, fit(second, tr("or select them in the pool and press Space")), second,
               m_theme.dim);
}

void ScenePainter::patchBox(QPainter& p, const MeshLayout::Box& box, const QRegion& clip) const {
  p.save();
  p.setRenderHint(QPainter::Antialiasing);
  p.setClipRegion(clip);
  // Clear first: antialiased edges must not be painted twice.
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
                          : box.pool ? tr("pool")
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

}  // namespace tessera::ui
