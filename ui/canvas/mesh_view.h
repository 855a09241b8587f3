// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The mesh canvas: node frames with GPU cells, the pool, flows in the gutters. Painted in three
/// layers, so that a frame with moving bytes costs its dots only, and an idle canvas nothing.

#include <QAbstractScrollArea>
#include <QBasicTimer>
#include <QElapsedTimer>
#include <QImage>
#include <QList>
#include <QRegion>
#include <functional>
#include <optional>
#include <set>
#include <vector>

#include "ui/canvas/flow_paths.h"
#include "ui/canvas/flow_watch.h"
#include "ui/canvas/mesh_layout.h"
#include "ui/canvas/mesh_scene.h"

namespace tessera::ui {

class ScenePainter;

/// Shows one MeshScene and turns mouse, keys and drops into requests. It never changes the scene by
/// itself: the owner answers a request with the next `setScene`.
///
/// Keys: arrows move the current cell, Ctrl+arrows by node, Shift extends, Space requests a toggle
/// of the selection between mesh and pool, N selects the node, Ctrl+A all, Home/End, Enter
/// activates, Shift+F10 context menu, + − 0 zoom, F frames the selection and again everything. Esc
/// is left to the owner.
class MeshView : public QAbstractScrollArea {
  Q_OBJECT
 public:
  explicit MeshView(QWidget* parent = nullptr);
  ~MeshView() override;

  /// Repaints only cells that differ where nodes and devices are the same as before. Selected and
  /// current devices that are gone are dropped.
  void setScene(MeshScene scene);
  const MeshScene& scene() const { return m_scene; }
  /// No drag, no drop, no toggle; looking and selecting stay.
  void setReadOnly(bool readOnly);
  bool isReadOnly() const { return m_readOnly; }
  /// Arrows and per cent instead of running dots.
  void setReduceMotion(bool reduce);
  /// Age in seconds of what is shown. Above 3 s the canvas is dimmed and says so, and dots stop.
  void setStale(double ageSeconds);
  /// The text in the drag ghost for a drop of these devices, for example the mesh that it makes.
  void setDragHint(std::function<QString(const QList<ptc::DeviceId>& devices, bool intoMesh)> hint);

  const std::set<ptc::DeviceId>& selection() const { return m_selection; }
  /// Emits selectionChanged if it differs. Devices that are not in the scene are left out.
  void setSelection(std::set<ptc::DeviceId> devices);
  std::optional<ptc::DeviceId> current() const { return m_current; }
  /// Moves the focus mark and scrolls it into view. Emits currentChanged if it differs.
  void setCurrent(ptc::DeviceId device);
  /// Devices in reading order: mesh, then pool.
  const std::vector<ptc::DeviceId>& devices() const { return m_layout.order(); }

  /// All rectangles and points are in viewport coordinates. A null QRect: not shown.
  QRect cellRect(ptc::DeviceId device) const;
  std::optional<ptc::DeviceId> deviceAt(QPoint position) const;
  QRect poolRect() const;
  QRect dropZoneRect() const;
  /// Frame of the node in the mesh, else of its group in the pool.
  QRect nodeRect(std::int32_t node) const;

  /// 1 fits everything; 0.25 to 8.
  double zoom() const { return m_zoom; }
  /// Keeps what is at `anchor` (default: the middle) where it is.
  void setZoom(double zoom, std::optional<QPoint> anchor = std::nullopt);

  /// Paint events of the viewport so far.
  int paintCount() const { return m_paintCount; }
  /// How long the last of each took, milliseconds.
  struct Timing {
    double layout = 0, cells = 0, patch = 0, flows = 0, frame = 0;
  };
  const Timing& timing() const { return m_timing; }

  static QString mimeType();  // "application/x-tessera-devices", holds "n0g0,n0g1"

  QSize sizeHint() const override { return {892, 566}; }
  QSize minimumSizeHint() const override { return {320, 240}; }

 signals:
  void selectionChanged();
  void currentChanged(tessera::ptc::DeviceId device);
  /// A drop that carries devices across: from the pool into the mesh or out of it.
  void devicesDropped(const QList<tessera::ptc::DeviceId>& devices, bool intoMesh);
  void toggleRequested(const QList<tessera::ptc::DeviceId>& devices);
  void activated(tessera::ptc::DeviceId device);
  void contextMenuRequested(tessera::ptc::DeviceId device, QPoint globalPosition);

 protected:
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
  // What a pressed mouse button does until it is released.
  enum class Press { None, Cell, Band, Pan };
  struct Drag {
    QPoint position;  // viewport
    QList<ptc::DeviceId> devices;
    QList<ptc::DeviceId> crossing;  // those that the drop would carry across
    bool intoMesh = false;
    QString hint;
  };

  QPoint offset() const;
  QPoint toContent(QPoint viewport) const { return viewport + offset(); }
  QRect toViewport(const QRect& content) const { return content.translated(-offset()); }
  ScenePainter painter() const;

  void relayout();
  void invalidate();
  void patch(const MeshScene& before);
  void reroute();
  void renderCells();
  void renderFlows();
  void updateTimers();
  bool animating() const;
  void pruneSelection();

  const MeshScene::Cell* cellAt(ptc::DeviceId device) const { return m_scene.find(device); }
  bool canMove(ptc::DeviceId device) const;
  std::vector<ptc::DeviceId> devicesOfBox(int box) const;
  void select(const std::vector<ptc::DeviceId>& devices, Qt::KeyboardModifiers modifiers);
  void extendTo(ptc::DeviceId device);
  std::optional<ptc::DeviceId> neighbour(int key, bool byNode) const;
  void moveCurrent(int key, Qt::KeyboardModifiers modifiers);
  void frameSelection();
  void ensureVisible(const QRect& content);
  void updateBand();
  void startDrag();
  bool track(QDropEvent* event);
  QString toolTipAt(QPoint viewport) const;

  MeshScene m_scene;
  MeshLayout m_layout;
  std::vector<FlowPath> m_paths;
  FlowWatch m_watch;
  bool m_readOnly = false;
  bool m_reduceMotion = false;
  double m_staleAge = 0;
  double m_zoom = 1;
  bool m_framed = false;
  std::function<QString(const QList<ptc::DeviceId>&, bool)> m_dragHint;

  std::set<ptc::DeviceId> m_selection;
  std::optional<ptc::DeviceId> m_current;
  std::optional<ptc::DeviceId> m_anchor;  // where an extension by Shift starts
  std::optional<ptc::DeviceId> m_hovered;

  Press m_press = Press::None;
  QPoint m_pressed;  // viewport
  std::optional<ptc::DeviceId> m_pressedDevice;
  bool m_selectOnRelease = false;
  QRect m_band;  // content
  std::set<ptc::DeviceId> m_bandBase;
  std::optional<Drag> m_drag;

  QImage m_cells;        // layer A, opaque, what the viewport shows
  QRegion m_cellsDirty;  // of it, viewport coordinates
  QImage m_flows;        // layer B
  bool m_flowsDirty = true;

  QBasicTimer m_frameTimer;  // dots
  QBasicTimer m_watchTimer;  // stalls
  QElapsedTimer m_clock;
  int m_paintCount = 0;
  Timing m_timing;
};

}  // namespace tessera::ui
