// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The position of everything in a MeshScene, in integer logical pixels of content coordinates:
/// (0, 0) is the top left corner of the content, independent of scrolling.

#include <QPoint>
#include <QRect>
#include <QSize>
#include <array>
#include <optional>
#include <unordered_map>
#include <vector>

#include "ui/canvas/mesh_scene.h"

namespace tessera::ui {

/// How much a cell shows, by the length of its side. A card has a body below its identity band; a
/// tile consists of the band only.
enum class Detail {
  Card,     // band, device, what it does, memory bar and words
  Compact,  // band, device, memory bar
  Label,    // tile: device, piece, memory bar (from 36 px)
  Number,   // tile: rank or index (16 to 35 px)
  Plain,    // tile: colour, from 11 px with its pattern
  Block,    // tile: below 5 px, where the cells of a node touch
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
  /// Scale of text and fixed distances in a card; 1 at a width of 148 px.
  double scale = 1;

  /// \pre cellWidth >= 3
  static CellMetrics of(int cellWidth);
  bool isTile() const { return detail != Detail::Card && detail != Detail::Compact; }
};

/// The geometry of one scene at one size. Cells grow with the viewport, up to a width at which they
/// are legible from afar.
///
/// The frames of the mesh come first, in a grid. Below them are the frames of other jobs, then the
/// pool: a tray with the idle GPUs of each node. The cells of both are small, so that they take
/// about a quarter of the height at most and the mesh stays large: chips with names, or tiles.
class MeshLayout {
 public:
  using Kind = MeshScene::Group::Kind;
  /// A frame of the mesh, the frame of another job, or the idle GPUs of a node.
  struct Box {
    int group = 0;  // index into MeshScene::groups
    Kind kind = Kind::Mesh;
    bool skeleton = false;  // the devices are not known yet; `cells` has no meaning
    bool chips = false;     // of small cells: with names, else tiles
    QRect frame;
    QPoint origin;  // of the first cell
    QSize cell, pitch;
    int columns = 1;
    int numCells = 0;
    std::vector<MeshScene::Place> cells;  // in drawing order
    std::vector<ptc::DeviceId> devices;   // the same as device ids
    QRect cellRect(int place) const {
      return {origin + QPoint(place % columns * pitch.width(), place / columns * pitch.height()),
              cell};
    }
    /// Returns the area of the name: above the cells, or left of them among chips of the pool.
    QRect header() const {
      const QPoint offset = origin - frame.topLeft();
      return offset.x() > offset.y()
                 ? QRect(frame.topLeft(), QPoint(origin.x() - 1, frame.bottom()))
                 : QRect(frame.topLeft(), QPoint(frame.right(), origin.y() - 1));
    }
  };

  MeshLayout() = default;
  /// Lays out `scene` for `viewport`. Zoom 1 uses the largest cells with which nothing scrolls.
  /// \param editable whether to reserve room for the drop zone
  MeshLayout(const MeshScene& scene, QSize viewport, double zoom, bool editable);

  const CellMetrics& metrics() const { return m_metrics; }
  QSize contentSize() const { return m_size; }
  const std::vector<Box>& boxes() const { return m_boxes; }
  /// The outline of the pool; null without one.
  QRect poolRect() const { return m_pool; }
  /// The area in which a drop adds to the job: the dashed zone if there is one, else the mesh.
  QRect dropZoneRect() const { return m_dropZone.isNull() ? m_meshArea : m_dropZone; }
  /// Null without a dashed zone.
  QRect dashedDropZone() const { return m_dropZone; }

  /// Returns a null rectangle for a device that is not shown.
  QRect cellRect(ptc::DeviceId device) const;
  /// O(log frames).
  std::optional<ptc::DeviceId> deviceAt(QPoint position) const;
  /// Returns the index into boxes() of the frame whose header is at `position`.
  std::optional<int> headerAt(QPoint position) const;
  /// Returns the index into boxes() of the box that contains `device`.
  std::optional<int> boxOf(ptc::DeviceId device) const;
  /// Returns whether a drop at `position` goes to the pool.
  bool isPoolAt(QPoint position) const;
  /// Returns the index into boxes() of the frame of another job that contains `position`.
  std::optional<int> jobAt(QPoint position) const;
  /// Devices in reading order: mesh, other jobs, pool.
  const std::vector<ptc::DeviceId>& order() const { return m_order; }

 private:
  struct Row {
    int top = 0, bottom = 0;  // inclusive
    std::size_t first = 0, count = 0;
  };
  struct BoxCell {
    int box = 0;
    int place = 0;
  };
  struct Hash {
    std::size_t operator()(ptc::DeviceId id) const {
      return static_cast<std::size_t>(id.node) * 1009U + static_cast<std::size_t>(id.index);
    }
  };

  // The sizes of a cell of other jobs and of the pool.
  struct Small {
    QSize cell;
    int gap = 0;
    int header = 0;  // above the cells of a node; 0: no room for its name
    bool chips = false;
  };
  static const std::array<Small, 9> kSmall;

  void arrange(const MeshScene& scene, QSize viewport, int cellWidth, double zoom, bool editable);
  // Returns the y coordinate below the frames, and sets their width.
  int arrangeMesh(const MeshScene& scene, int width, bool editable, int* contentWidth);
  // Returns the y coordinate below. \param limit the height to stay within, if possible
  int arrangeRest(const MeshScene& scene, int top, int width, int limit, bool withTray);
  int placeSmall(const MeshScene& scene, const Small& small, int top, int width, bool withTray);
  void closeRow(std::size_t first);
  void index(const MeshScene& scene);
  std::optional<std::size_t> boxAt(QPoint position) const;

  CellMetrics m_metrics;
  int m_fittingWidth = 148;  // of a cell at zoom 1
  QSize m_size;
  std::vector<Box> m_boxes;
  std::vector<Row> m_rows;  // by top; boxes of a row by x
  QRect m_dropZone, m_meshArea, m_jobsArea, m_pool;
  std::unordered_map<ptc::DeviceId, BoxCell, Hash> m_boxCells;
  std::vector<ptc::DeviceId> m_order;
};

}  // namespace tessera::ui
