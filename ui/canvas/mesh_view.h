// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The mesh canvas: node frames with GPU cells, the pool, and flows in the gutters. It paints in
/// three layers, so that an animation frame paints only the dots, and an idle canvas nothing.

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

/// Shows one MeshScene and turns mouse, keys and drops into requests. The view never changes the
/// scene itself; the owner responds to a request with the next `setScene`.
///
/// A device is swapped with another by a drag onto its cell, or by cut and paste: `cutSelection`
/// marks devices, `pasteSwap` requests a swap with the selected ones.
///
/// Keys: Ctrl+X and Ctrl+V cut and paste, arrows move the current cell, Ctrl+arrows by node, Shift
/// extends, Space requests a toggle of the selection between mesh and pool, N selects the node, T,
/// D, P, E and C request the groups along an axis, Ctrl+A all, Home/End, Enter activates, Shift+F10
/// opens the context menu, + − 0 zoom, F fits the selection and, pressed again, everything. The
/// owner handles Esc.
class MeshView : public QAbstractScrollArea {
  Q_OBJECT
 public:
  explicit MeshView(QWidget* parent = nullptr);
  ~MeshView() override;

  /// Shows `scene`. If nodes and devices are the same as before, only cells that differ are
  /// repainted. Devices that no longer exist leave the selection.
  void setScene(MeshScene scene);
  const MeshScene& scene() const { return m_scene; }
  /// Disables drag, drop and toggle. Selection stays possible.
  void setReadOnly(bool readOnly);
  bool isReadOnly() const { return m_readOnly; }
  /// Shows arrows and percentages instead of moving dots.
  void setReduceMotion(bool reduce);
  /// Sets the age of the shown data in seconds. Above 3 s the canvas is dimmed, shows the age, and
  /// the dots stop.
  void setStale(double ageSeconds);
  /// Sets the function that returns the text of the drag ghost, for example the resulting mesh.
  void setDragHint(std::function<QString(const QList<ptc::DeviceId>& devices, bool intoMesh)> hint);

  /// Marks the selected devices, or the current one, for a swap. Reports what cannot be marked.
  void cutSelection();
  /// Requests a swap of the marked devices with the selected ones. If one device is selected, it
  /// and those after it are meant.
  void pasteSwap();
  /// The devices that wait for their swap.
  const std::vector<ptc::DeviceId>& cut() const { return m_cut; }

  const std::set<ptc::DeviceId>& selection() const { return m_selection; }
  /// Emits selectionChanged if the selection differs. Ignores devices that are not in the scene.
  void setSelection(std::set<ptc::DeviceId> devices);
  /// Frames devices that another view has under the pointer.
  void setHighlighted(std::set<ptc::DeviceId> devices);
  /// Lights up the devices with which the device under the pointer, or else the current one,
  /// communicates along this axis; nothing: none are lit up.
  void setGroupAxis(std::optional<ptc::Axis> axis);
  /// The devices that are lit up.
  const std::set<ptc::DeviceId>& group() const { return m_group; }
  std::optional<ptc::DeviceId> current() const { return m_current; }
  /// Moves the focus mark and scrolls to it. Emits currentChanged if the device differs.
  void setCurrent(ptc::DeviceId device);
  /// Devices in reading order: mesh, other jobs, pool.
  const std::vector<ptc::DeviceId>& devices() const { return m_layout.order(); }

  /// Rectangles and points are in viewport coordinates. A null QRect means "not shown".
  QRect cellRect(ptc::DeviceId device) const;
  std::optional<ptc::DeviceId> deviceAt(QPoint position) const;
  QRect poolRect() const;
  /// Returns the area of the pool's name, which selects and drags all of its devices.
  QRect poolLabelRect() const;
  QRect dropZoneRect() const;
  /// Returns the first frame with a device of the node: in the mesh, else in the pool.
  QRect nodeRect(std::int32_t node) const;
  /// Returns the frame of another job.
  QRect jobRect(const QString& job) const;
  /// The lines that are drawn in full for the selected devices and the one under the pointer.
  const std::vector<FlowPath>& ownFlows() const { return m_ownPaths; }

  bool reducesMotion() const { return m_reduceMotion; }
  /// The zoom factor, 0.25 to 8. At 1 everything fits.
  double zoom() const { return m_zoom; }
  /// Keeps the content at `anchor` (default: the middle) in place.
  void setZoom(double zoom, std::optional<QPoint> anchor = std::nullopt);

  /// Enlarges these devices to the size of the viewport; none: everything fits.
  void frame(const std::set<ptc::DeviceId>& devices);

  /// The number of paint events of the viewport so far.
  int paintCount() const { return m_paintCount; }
  /// The duration of the last run of each, in milliseconds.
  struct Timing {
    double layout = 0, cells = 0, patch = 0, flows = 0, frame = 0;
  };
  const Timing& timing() const { return m_timing; }

  static QString mimeType();  // "application/x-tessera-devices", holds "n0g0,n0g1"

  QSize sizeHint() const override { return {892, 566}; }
  QSize minimumSizeHint() const override { return {320, 240}; }

 signals:
  void selectionChanged();
  void zoomed(double zoom);
  /// The pointer is over another device, or over none.
  void hoveredChanged(std::optional<tessera::ptc::DeviceId> device);
  void currentChanged(tessera::ptc::DeviceId device);
  /// The user dropped devices on the other side: from the pool into the mesh, or the reverse.
  void devicesDropped(const QList<tessera::ptc::DeviceId>& devices, bool intoMesh);
  void toggleRequested(const QList<tessera::ptc::DeviceId>& devices);
  /// Each of `devices` takes the place of its counterpart in `others`, and the reverse.
  void swapRequested(const QList<tessera::ptc::DeviceId>& devices,
                     const QList<tessera::ptc::DeviceId>& others);
  /// The user chose the frame or a device of another job.
  void jobRequested(const QString& job);
  /// A gesture cannot be carried out, as one sentence.
  void refused(const QString& reason);
  void activated(tessera::ptc::DeviceId device);
  /// The key of an axis was pressed.
  void axisRequested(tessera::ptc::Axis axis);
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
  // The effect of the pressed mouse button.
  enum class Press { None, Gpus, Band, Pan };
  struct Drag {
    QPoint position;  // viewport
    QList<ptc::DeviceId> devices;
    QList<ptc::DeviceId> crossing;  // those that the drop would move to the other side
    bool intoMesh = false;
    std::optional<ptc::DeviceId> swap;  // the only device is dragged onto this one
    QString hint;
    bool hasEffect() const { return swap || !crossing.isEmpty(); }
  };

  QPoint offset() const;
  QPoint toContent(QPoint viewport) const { return viewport + offset(); }
  QRect toViewport(const QRect& content) const { return content.translated(-offset()); }
  ScenePainter painter() const;

  void relayout();
  void invalidate();
  /// Whether layer A may be moved, or painted in part, without painting the rest anew.
  bool keepsCells() const;
  void patch(const MeshScene& before);
  void setHovered(std::optional<ptc::DeviceId> device);
  void reroute();
  void routeOwn();
  void regroup();
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
  void activate(ptc::DeviceId device);
  void frameSelection();
  void ensureVisible(const QRect& content);
  void updateBand();
  /// The button was pressed on a cell, or on the label of several: it selects and drags them.
  void pressDevices(std::vector<ptc::DeviceId> devices, Qt::KeyboardModifiers modifiers);
  std::vector<ptc::DeviceId> devicesOfPool() const;
  void startDrag();
  bool track(QDropEvent* event);
  std::optional<QString> jobHeaderAt(QPoint viewport) const;
  QString toolTipAt(QPoint viewport) const;

  MeshScene m_scene;
  MeshLayout m_layout;
  std::vector<FlowPath> m_paths, m_ownPaths;
  FlowWatch m_watch;
  bool m_readOnly = false;
  bool m_reduceMotion = false;
  double m_staleAge = 0;
  double m_zoom = 1;
  bool m_framed = false;
  std::function<QString(const QList<ptc::DeviceId>&, bool)> m_dragHint;

  std::set<ptc::DeviceId> m_selection;
  std::optional<ptc::DeviceId> m_current;
  std::optional<ptc::DeviceId> m_anchor;  // the start of an extension with Shift
  std::optional<ptc::DeviceId> m_hovered;
  std::set<ptc::DeviceId> m_highlighted;
  std::optional<ptc::Axis> m_groupAxis;
  std::set<ptc::DeviceId> m_group;  // along it
  std::vector<ptc::DeviceId> m_cut;

  Press m_press = Press::None;
  QPoint m_pressed;  // viewport
  std::vector<ptc::DeviceId> m_pressedDevices;  // of a cell or a label; the first is dragged
  bool m_selectOnRelease = false;
  QRect m_band;  // content
  std::set<ptc::DeviceId> m_bandBase;
  std::optional<Drag> m_drag;

  QImage m_cells;        // layer A, opaque, the visible part
  QRegion m_cellsDirty;  // of m_cells, in viewport coordinates
  QImage m_flows;        // layer B
  bool m_flowsDirty = true;

  QBasicTimer m_frameTimer;  // dots
  QBasicTimer m_watchTimer;  // stalls
  QElapsedTimer m_clock;
  int m_paintCount = 0;
  Timing m_timing;
};

}  // namespace tessera::ui
