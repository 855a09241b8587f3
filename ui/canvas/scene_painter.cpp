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
      m_band = canvasFont(12.5 * m.scale, QFont::DemiBold);
      m_bandSub = canvasFont(11 * m.scale);
      m_name = canvasFont(13 * m.scale, QFont::DemiBold);
      m_note = canvasFont(11 * m.scale, QFont::Medium);
      m_small = canvasFont(11 * m.scale);
      m_node = canvasFont(13 * std::max(1.0, m.scale), QFont::DemiBold);
      m_nodeSub = canvasFont(11.5 * std::max(1.0, m.scale));
      break;
    case Detail::Compact:
      m_band = canvasFont(10.5, QFont::DemiBold);
      m_bandSub = canvasFont(10);
      m_name = canvasFont(11.5, QFont::DemiBold);
      m_note = canvasFont(10, QFont::Medium);
      m_small = canvasFont(10);
      m_node = canvasFont(12, QFont::DemiBold);
      m_nodeSub = canvasFont(10.5);
      break;
    case Detail::Label:
    case Detail::Number:
    case Detail::Plain:
    case Detail::Block:
      m_name = canvasFont(10.5, QFont::DemiBold);
      m_small = canvasFont(9.5);
      m_node = canvasFont(m.header >= 18 ? 10 : 8.5, QFont::DemiBold);
      m_nodeSub = canvasFont(m.header >= 18 ? 9 : 8);
      break;
  }
  m_tile = canvasFont(std::clamp(m.width * 0.5, 8.5, 11.5), QFont::Medium);
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
  if (!m_layout.poolRect().isNull()) paintTray(p);
  paintDropZone(p);
  for (const auto& box : m_layout.boxes()) {
    if (box.frame.adjusted(0, 0, 0, 2).intersects(clip)) paintBox(p, box, clip);
  }
}

ScenePainter::TrayTitle ScenePainter::trayTitle() const {
  TrayTitle title;
  title.name = canvasFont(13, QFont::DemiBold);
  title.count = canvasFont(11.5);
  int idle = 0, lost = 0, idleNodes = 0;
  for (const auto& group : m_scene.groups) {
    if (group.kind != MeshLayout::Kind::Pool) continue;
    const int before = idle;
    for (const MeshScene::Place place : group.cells) {
      const bool dead = m_scene.at(place).state == State::Dead;
      lost += dead;
      idle += !dead;
    }
    idleNodes += idle > before;
  }
  title.isEmpty = idle + lost == 0;
  title.countText = title.isEmpty   ? tr("empty")
                    : idleNodes > 1 ? tr("%1 idle on %2", "16 GPUs idle on 2 nodes")
                                          .arg(format::gpus(idle), format::nodes(idleNodes))
                                    : tr("%1 idle", "4 GPUs idle").arg(format::gpus(idle));
  if (lost > 0) title.countText += tr(", %1 lost").arg(format::count(lost));
  const QRect area = m_layout.poolRect();
  const bool isSlim = title.isEmpty && area.height() < 60;
  title.x = area.left() + 14;
  title.baseline = isSlim ? baselineAt(title.name, area.center().y() + 0.5) : area.top() + 22;
  title.countX = title.x + widthOf(title.name, tr("Pool")) + 10;
  return title;
}

QRect ScenePainter::poolLabel() const {
  if (m_layout.poolRect().isNull()) return {};
  const TrayTitle title = trayTitle();
  constexpr int kAbove = 16, kBelow = 8;  // of the baseline
  return QRectF(title.x, title.baseline - kAbove,
                title.countX + widthOf(title.count, title.countText) - title.x, kAbove + kBelow)
      .toAlignedRect();
}

void ScenePainter::paintTray(QPainter& p) const {
  const QRect area = m_layout.poolRect();
  roundedRect(p, onPixels(area), 10, dashes(m_theme.line, 1.2, 6, 5), m_theme.canvas);
  const TrayTitle title = trayTitle();
  textLeft(p, title.x, title.baseline, tr("Pool"), title.name, m_theme.text);
  textLeft(p, title.countX, title.baseline, title.countText, title.count, m_theme.dim);
  if (title.isEmpty && m_editable && !m_scene.jobName.isEmpty()) {
    const bool slim = area.height() < 60;
    const QFont font = canvasFont(12);
    textCentered(p, area.center().x(),
                 slim ? baselineAt(font, area.center().y() + 0.5) : area.top() + 62,
                 tr("drop GPUs here to remove them from the job"), font, m_theme.dim);
  }
}

void ScenePainter::paintDropZone(QPainter& p) const {
  const QRect zone = m_layout.dashedDropZone();
  if (zone.isNull()) return;
  roundedRect(p, onPixels(zone), 10, dashes(m_theme.line, 1.4, 6, 5), m_theme.canvas);
  const QFont first = canvasFont(12.5, QFont::Medium);
  const QFont second = canvasFont(11.5);
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
  const auto& group = m_scene.groups[static_cast<std::size_t>(box.group)];
  const bool small = box.kind != MeshLayout::Kind::Mesh;

  QPen border(m_theme.line, 1);
  QColor caption = m_theme.dim;
  switch (group.state) {
    case engine::NodeState::kSuspect:
      border = dashes(m_theme.warn, 1.4, 4, 3);
      caption = m_theme.warn;
      break;
    case engine::NodeState::kUnmanaged:
      border = QPen(m_theme.warn, canvasLine(1));
      caption = m_theme.warn;
      break;
    case engine::NodeState::kDead:
    case engine::NodeState::kLeft:
      border = QPen(m_theme.bad, canvasLine(1.4));
      caption = m_theme.bad;
      break;
    case engine::NodeState::kJoining:
    case engine::NodeState::kAlive:
      if (group.highlighted) border = QPen(m_theme.accent, 1);
      break;
  }
  if (m.detail != Detail::Block || small) {
    const double radius = !small ? m.radius : box.chips ? 8 : box.cell.width() >= 9 ? 4 : 2;
    const bool other = box.kind == MeshLayout::Kind::Job;
    roundedRect(p, onPixels(box.frame, border.widthF()), other ? 8 : radius, border,
                other ? m_theme.canvas : m_theme.frame);
  }
  if (group.state == engine::NodeState::kUnmanaged && box.cell.width() >= 9) {
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
  paintGroupTitle(p, box, caption);
  if (box.skeleton) {
    for (int i = 0; i < box.numCells; ++i) paintSkeleton(p, box.cellRect(i));
    return;
  }
  for (std::size_t i = 0; i < box.cells.size(); ++i) {
    const QRect rect = box.cellRect(static_cast<int>(i));
    if (!clip.intersects(rect.adjusted(0, 0, 0, 2))) continue;
    const auto& cell = m_scene.at(box.cells[i]);
    const auto& node = m_scene.nodes[static_cast<std::size_t>(box.cells[i].node)];
    const bool dimmed = node.state == engine::NodeState::kUnmanaged;
    const bool faded = m_scene.isolated && cell.swatch != m_scene.isolated;
    if (dimmed || faded) p.setOpacity((dimmed ? 0.5 : 1) * (faded ? kFadedOpacity : 1));
    paintCell(p, rect, cell, box);
    if (dimmed || faded) p.setOpacity(1);
    if (cell.mark != Cell::Mark::None) paintDifference(p, rect, cell);
  }
}

void ScenePainter::paintGroupTitle(QPainter& p, const MeshLayout::Box& box,
                                   const QColor& caption) const {
  const CellMetrics& m = m_layout.metrics();
  const auto& group = m_scene.groups[static_cast<std::size_t>(box.group)];
  const bool troubled = caption != m_theme.dim;
  // The name, and what else there is room for.
  const auto row = [&](double left, double right, double baseline, const QFont& name,
                       const QFont& sub, const QColor& color, const QString& more) {
    const QString shown = QFontMetricsF(name).elidedText(group.name, Qt::ElideRight, right - left);
    textLeft(p, left, baseline, shown, name, color);
    const double room = right - left - widthOf(name, shown) - 8;
    if (room < 16) return;
    textRight(p, right, baseline, QFontMetricsF(sub).elidedText(more, Qt::ElideRight, room), sub,
              caption);
  };
  if (box.kind == MeshLayout::Kind::Job) {
    row(box.frame.left() + 10, box.frame.right() - 9, box.frame.top() + 17,
        canvasFont(12, QFont::DemiBold), canvasFont(10.5), m_theme.dim, group.subtitle);
  } else if (box.kind == MeshLayout::Kind::Pool) {
    if (box.chips) {
      const QFont font = canvasFont(12, QFont::DemiBold);
      textCentered(p, (box.frame.left() + box.origin.x()) / 2.0,
                   baselineAt(font, box.frame.center().y() + 0.5), group.name, font,
                   troubled ? caption : m_theme.text);
    } else if (box.header().height() >= 12) {
      textLeft(p, box.origin.x(), box.frame.top() + 10, group.name,
               canvasFont(8.5, QFont::DemiBold), caption);
    }
  } else if (!m.isTile()) {
    row(box.frame.left() + m.gap + 2, box.frame.right() - m.gap - 1,
        box.frame.top() + m.header * 0.65, m_node, m_nodeSub, m_theme.text, group.subtitle);
  } else if (m.header >= 13) {
    const bool several = m_scene.groupBy != GroupBy::Node;
    row(box.frame.left() + m.footer, box.frame.right() + 1 - m.footer,
        box.frame.top() + (m.header >= 18 ? 13 : 10), m_node, m_nodeSub, caption,
        troubled  ? format::wait(group.lastSeen)
        : several ? group.subtitle
                  : QString());
  }
}

}  // namespace tessera::ui
