// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// Where everything of a MeshScene stands on the canvas. Integer logical pixels in content
/// coordinates: (0, 0) is the top left corner of the content, whatever is scrolled into view.

#include <QPoint>
#include <QRect>
#include <QSize>
#include <optional>
#include <unordered_map>
#include <vector>

#include "ui/canvas/mesh_scene.h"

namespace tessera::ui {

/// How much a cell shows, by its side. Cards have a body under the identity band; in tiles the band
/// is the cell.
enum class Detail {
  Card,     // band, device, what it does, memory bar and words
  Compact,  // band, device, memory bar
  Label,    // tile: device, piece, memory bar (from 36 px)
  Number,   // tile: rank or index (16 to 35 px)
  Plain,    // tile: colour, from 11 px with its pattern
  Block,    // below 5 px the cells of a node touch
};

/// The sizes of one level of detail.
struct CellMetrics {
  Detail detail = Detail::Card;
  int width = 148;
  int height = 112;
  int gap = 12;           // between cells, and from the frame to its cells
  int header = 34;        // from the top of a frame to its first cell
  int footer = 14;        // from the last cell to the bottom of the frame
  QSize spacing{40, 24};  // between frames
  int margin = 32;        // left and right of everything
  int radius = 10;        // of frames
  int cellRadius = 8;
  /// Of text and fixed distances in a card, 1 at 148 px.
  double scale = 1;

  /// \pre cellWidth >= 3
  static CellMetrics of(int cellWidth);
  bool isTile() const { return detail != Detail::Card && detail != Detail::Compact; }
};

/// The geometry of one scene at one size. Nodes with cells in the mesh come first, in a grid.
/// Cards: the pool is a tray below them, in which a node's idle GPUs are chips. Tiles: idle cells
/// stand in their nodes, wholly idle nodes come last in dashed outlines.
class MeshLayout {
 public:
  /// A node's frame in the mesh, or its group in the pool tray.
  struct Box {
    int node = 0;  // index into MeshScene::nodes
    bool pool = false;
    bool skeleton = false;  // devices not known yet; `cells` indexes nothing
    QRect frame;
    QPoint origin;  // of the first cell
    QSize cell, pitch;
    int columns = 1;
    int numCells = 0;
    std::vector<int> cells;              // indices into Node::cells, in order of place
    std::vector<ptc::DeviceId> devices;  // the same as names
    QRect cellRect(int place) const {
      return {origin + QPoint(place % columns * pitch.width(), place / columns * pitch.height()),
              cell};
    }
    /// The node's name: above the cells, in the pool tray left of them.
    QRect header() const {
      const QPoint offset = origin - frame.topLeft();
      return offset.x() > offset.y()
                 ? QRect(frame.topLeft(), QPoint(origin.x() - 1, frame.bottom()))
                 : QRect(frame.topLeft(), QPoint(frame.right(), origin.y() - 1));
    }
  };

  MeshLayout() = default;
  /// Fits `scene` into `viewport` at zoom 1: the largest cells with which nothing needs scrolling.
  /// `editable` leaves room for the places to drop on.
  MeshLayout(const MeshScene& scene, QSize viewport, double zoom, bool editable);

  const CellMetrics& metrics() const { return m_metrics; }
  /// The cell width that zoom 1 gives.
  int fittingWidth() const { return m_fittingWidth; }
  QSize contentSize() const { return m_size; }
  const std::vector<Box>& boxes() const { return m_boxes; }
  /// Outline of the tray, or of each run of idle nodes.
  const std::vector<QRect>& poolAreas() const { return m_poolAreas; }
  /// Whether the pool is a tray with a heading.
  bool hasTray() const { return m_hasTray; }
  QRect poolRect() const;
  /// Where a drop adds to the job: the dashed zone if there is one, else the nodes of the mesh.
  QRect dropZoneRect() const { return m_dropZone.isNull() ? m_meshArea : m_dropZone; }
  /// Null without a dashed zone.
  QRect dashedDropZone() const { return m_dropZone; }

  /// Null for a device that is not shown.
  QRect cellRect(ptc::DeviceId device) const;
  /// O(log nodes).
  std::optional<ptc::DeviceId> deviceAt(QPoint position) const;
  /// Index into boxes() of the frame whose heading is there.
  std::optional<int> headerAt(QPoint position) const;
  /// Index into boxes() of the box that holds `device`.
  std::optional<int> boxOf(ptc::DeviceId device) const;
  /// Which side a drop there means.
  bool isPoolAt(QPoint position) const;
  /// Devices in reading order: mesh, then pool.
  const std::vector<ptc::DeviceId>& order() const { return m_order; }

 private:
  struct Row {
    int top = 0, bottom = 0;  // inclusive
    std::size_t first = 0, count = 0;
  };
  struct Place {
    int box = 0;
    int place = 0;
  };
  struct Hash {
    std::size_t operator()(ptc::DeviceId id) const {
      return static_cast<std::size_t>(id.node) * 1009U + static_cast<std::size_t>(id.index);
    }
  };

  void arrange(const MeshScene& scene, int width, int cellWidth, bool editable);
  void arrangeCards(const MeshScene& scene, int width, bool editable);
  void arrangeTray(const MeshScene& scene, int top, int width);
  void arrangeTiles(const MeshScene& scene, int width, bool withTray);
  void closeRow(std::size_t first);
  void index();
  std::optional<std::size_t> boxAt(QPoint position) const;

  CellMetrics m_metrics;
  int m_fittingWidth = 148;
  QSize m_size;
  std::vector<Box> m_boxes;
  std::vector<Row> m_rows;  // by top; boxes of a row by x
  std::vector<QRect> m_poolAreas;
  bool m_hasTray = false;
  QRect m_dropZone, m_meshArea;
  std::unordered_map<ptc::DeviceId, Place, Hash> m_places;
  std::vector<ptc::DeviceId> m_order;
};

}  // namespace tessera::ui
