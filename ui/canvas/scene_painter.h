// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// Draws a MeshScene at the positions of a MeshLayout: frames, cells, pool, and the overlays above
/// them. Every mark is a painted path, because fonts lack these glyphs.

#include <QColor>
#include <QCoreApplication>
#include <QFont>
#include <QRect>
#include <QRegion>
#include <QString>
#include <vector>

#include "ui/canvas/flow_paths.h"
#include "ui/canvas/mesh_layout.h"
#include "ui/canvas/mesh_scene.h"

class QPainter;

namespace tessera::ui {

struct Theme;
enum class Pattern;

/// Keeps references to its arguments. Coordinates are those of the layout.
class ScenePainter {
  Q_DECLARE_TR_FUNCTIONS(tessera::ui::ScenePainter)

 public:
  ScenePainter(const MeshScene& scene, const MeshLayout& layout, const Theme& theme, bool editable);

  /// Paints canvas, pool, drop zone, and the frames and cells that intersect `clip`.
  void paintAll(QPainter& painter, const QRect& clip) const;
  /// Repaints the part of one frame that intersects `clip`. Sets `clip` as the clip of the painter.
  void patchBox(QPainter& painter, const MeshLayout::Box& box, const QRegion& clip) const;
  void paintFlows(QPainter& painter, const std::vector<FlowPath>& paths) const;
  /// Paints the outline of the cell that a drop would swap with, or that waits for its swap.
  void paintSwap(QPainter& painter, const QRect& cell) const;
  void paintDots(QPainter& painter, const std::vector<FlowPath>& paths, double seconds) const;

  void paintSelected(QPainter& painter, const QRect& cell) const;
  void paintHovered(QPainter& painter, const QRect& cell) const;
  /// Paints a member of the communication group that is lit up.
  void paintMember(QPainter& painter, const QRect& cell) const;
  void paintCurrent(QPainter& painter, const QRect& cell) const;
  /// Paints the outline of the side that would receive the drop.
  void paintDropTarget(QPainter& painter, bool intoMesh) const;
  /// Paints a stack of chips with the effect of the drop below it. It stays within `bounds`.
  void paintGhost(QPainter& painter, QPoint at, const std::vector<ptc::DeviceId>& devices,
                  const QString& hint, const QRect& bounds) const;
  /// Paints a label in a rounded box, centred at the bottom of `area`.
  void paintPill(QPainter& painter, const QRect& area, const QString& text) const;

  /// Returns where paintAll() writes the name of the pool and its number of idle GPUs; null without
  /// a pool.
  QRect poolLabel() const;

 private:
  struct TrayTitle {
    QFont name, count;
    QString countText;  // "4 GPUs idle"
    double x = 0, countX = 0, baseline = 0;
    bool isEmpty = false;  // of GPUs
  };
  TrayTitle trayTitle() const;
  using Cell = MeshScene::Cell;
  using State = Cell::State;
  void paintBox(QPainter& painter, const MeshLayout::Box& box, const QRegion& clip) const;
  void paintGroupTitle(QPainter& painter, const MeshLayout::Box& box, const QColor& caption) const;
  void paintCell(QPainter& painter, const QRect& rect, const Cell& cell,
                 const MeshLayout::Box& box) const;
  void paintCard(QPainter& painter, const QRect& rect, const Cell& cell) const;
  void paintCompact(QPainter& painter, const QRect& rect, const Cell& cell) const;
  void paintTile(QPainter& painter, const QRect& rect, const Cell& cell) const;
  void paintPlainTile(QPainter& painter, const QRect& rect, const Cell& cell) const;
  void paintChip(QPainter& painter, const QRect& rect, const Cell& cell) const;
  /// Paints how the cell differs from an earlier layout.
  void paintDifference(QPainter& painter, const QRect& rect, const Cell& cell) const;
  void paintSkeleton(QPainter& painter, const QRect& rect) const;
  void paintBand(QPainter& painter, const QRect& rect, double height, const Cell& cell) const;
  void paintMemory(QPainter& painter, const QRectF& bar, const Cell& cell) const;
  void paintLabelTile(QPainter& painter, const QRect& rect, const Cell& cell,
                      const QColor& letters) const;
  /// Paints the mark of a state in its colour, or in `color` on a coloured background.
  void paintMark(QPainter& painter, QPointF center, double scale, const Cell& cell,
                 const QColor& color = QColor()) const;
  void paintCross(QPainter& painter, const QRectF& area, double width) const;
  void paintTray(QPainter& painter) const;
  void paintDropZone(QPainter& painter) const;
  QColor noteColor(const Cell& cell) const;
  QColor fillOf(const Cell& cell) const;
  Pattern patternOf(const Cell& cell) const;

  const MeshScene& m_scene;
  const MeshLayout& m_layout;
  const Theme& m_theme;
  bool m_editable;
  bool m_ranksFit = false;  // whether ranks fit into number tiles
  QFont m_band, m_bandSub, m_name, m_note, m_small, m_node, m_nodeSub, m_tile;
};

}  // namespace tessera::ui
