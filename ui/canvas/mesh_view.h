// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The mesh canvas: node frames with GPU cells, the pool, flows in the gutters. Painted in three
/// layers so that a frame with moving bytes costs only its dots, and an idle canvas nothing.

#include <QAbstractScrollArea>
#include <QBasicTimer>
#include <QElapsedTimer>
#include <QImage>
#include <QList>
#include <functional>
#include <memory>
#include <optional>
#include <set>

#include "ui/canvas/mesh_scene.h"

namespace tessera::ui {

class MeshLayout;
struct FlowPaths;
class FlowWatch;

/// Shows one MeshScene and turns mouse, keys and drops into requests. It never changes the scene by
/// itself: the owner answers a request with the next `setScene`.
///
/// Keys: arrows move the current cell, Ctrl+arrows by node, Shift extends, Space requests a toggle
/// of the selection between mesh and pool, N selects the node, Home/End, Enter activates, Shift+F10
/// context menu, + − 0 zoom, F frames the selection and again everything. Esc is left to the owner.
class MeshView : public QAbstractScrollArea {
  Q_OBJECT
 public:
  explicit MeshView(QWidget* parent = nullptr);
  ~MeshView() override;

  /// Repaints only cells that differ where nodes and devices are the same as before. Selected and
  /// current devices that are gone are dropped.
  void setScene(MeshScene scene);
  const MeshScene& scene() const;
  /// No drag, no drop, no toggle; looking and selecting stay.
  void setReadOnly(bool readOnly);
  bool isReadOnly() const;
  /// Static arrows and per cent instead of running dots.
  void setReduceMotion(bool reduce);
  /// Above 3 s the canvas is dimmed and says its age; below it looks live. Seconds.
  void setStale(double ageSeconds);
  /// The text in the drag ghost for a drop of these devices, for example what the mesh would be.
  void setDragHint(std::function<QString(const QList<ptc::DeviceId>& devices, bool intoMesh)> hint);

  const std::set<ptc::DeviceId>& selection() const;
  /// Emits selectionChanged if it differs. Devices that are not in the scene are left out.
  void setSelection(std::set<ptc::DeviceId> devices);
  std::optional<ptc::DeviceId> current() const;
  /// Moves the focus mark and scrolls it into view. Emits currentChanged if it differs.
  void setCurrent(ptc::DeviceId device);

  /// All rectangles and points are in viewport coordinates. A null QRect: not shown.
  QRect cellRect(ptc::DeviceId device) const;
  std::optional<ptc::DeviceId> deviceAt(QPoint position) const;
  QRect poolRect() const;
  QRect dropZoneRect() const;
  /// Frame of the node in the mesh, or of its group in the pool.
  QRect nodeRect(std::int32_t node) const;

  /// 1 fits everything; 0.25 to 8.
  double zoom() const;
  void setZoom(double zoom);
  /// Paint events of the viewport so far.
  int paintCount() const;
  /// Times of the last rebuilds and frames, milliseconds.
  struct Timing {
    double layout = 0, cells = 0, flows = 0, frame = 0;
  };
  Timing timing() const;

  static QString mimeType();  // application/x-tessera-devices: "n0g0,n0g1"

  QSize sizeHint() const override;
  QSize minimumSizeHint() const override;

 signals:
  void selectionChanged();
  void currentChanged(tessera::ptc::DeviceId device);
  /// A drop that changes sides: mesh to pool or pool to mesh.
  void devicesDropped(const QList<tessera::ptc::DeviceId>& devices, bool intoMesh);
  void toggleRequested(const QList<tessera::ptc::DeviceId>& devices);
  void activated(tessera::ptc::DeviceId device);
  void contextMenuRequested(tessera::ptc::DeviceId device, QPoint globalPosition);

 protected:
  bool event(QEvent* event) override;
  bool viewportEvent(QEvent* event) override;
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void scrollContentsBy(int dx, int dy) override;
  void changeEvent(QEvent* event) override;
  void showEvent(QShowEvent* event) override;
  void hideEvent(QHideEvent* event) override;
  void timerEvent(QTimerEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void focusInEvent(QFocusEvent* event) override;
  void focusOutEvent(QFocusEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;
  void contextMenuEvent(QContextMenuEvent* event) override;
  void dragEnterEvent(QDragEnterEvent* event) override;
  void dragMoveEvent(QDragMoveEvent* event) override;
  void dragLeaveEvent(QDragLeaveEvent* event) override;
  void dropEvent(QDropEvent* event) override;

 private:
  struct State;
  std::unique_ptr<State> m;
};

}  // namespace tessera::ui
