// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/canvas/mesh_view.h"

#include <QEvent>
#include <QHelpEvent>
#include <QPaintEvent>
#include <QPainter>
#include <QScrollBar>
#include <QTimerEvent>
#include <QToolTip>
#include <QWindow>
#include <algorithm>
#include <cmath>

#include "ui/canvas/accessible_mesh_view.h"
#include "ui/canvas/scene_painter.h"
#include "ui/format.h"
#include "ui/picture/svg_device.h"
#include "ui/theme.h"

namespace tessera::ui {
namespace {

constexpr int kFrameInterval = 16;       // ms
constexpr int kWatchInterval = 500;      // ms
constexpr int kPoolHeading = 28;         // px, above the first GPUs of the pool
constexpr double kStaleAfter = 3;        // s
constexpr double kBehindOpacity = 0.25;  // of lines behind those of chosen devices

double milliseconds(const QElapsedTimer& timer) {
  return static_cast<double>(timer.nsecsElapsed()) / 1e6;
}

// Returns whether both scenes have the same nodes and cells. The content of cells may differ.
bool sameStructure(const MeshScene& a, const MeshScene& b) {
  if (a.nodes.size() != b.nodes.size() || a.groups.size() != b.groups.size() ||
      a.groupBy != b.groupBy || a.jobName != b.jobName || a.emptyHint != b.emptyHint) {
    return false;
  }
  for (std::size_t n = 0; n < a.nodes.size(); ++n) {
    const auto& x = a.nodes[n];
    const auto& y = b.nodes[n];
    if (x.node != y.node || x.cells.size() != y.cells.size() || x.name != y.name) return false;
    for (std::size_t c = 0; c < x.cells.size(); ++c) {
      if (x.cells[c].id != y.cells[c].id) return false;
    }
  }
  return std::ranges::equal(a.groups, b.groups, [](const auto& x, const auto& y) {
    return x.kind == y.kind && x.skeleton == y.skeleton && x.name == y.name && x.cells == y.cells;
  });
}

}  // namespace

MeshView::MeshView(QWidget* parent) : QAbstractScrollArea(parent) {
  installAccessibleMeshView();
  setObjectName(QStringLiteral("meshView"));
  setAccessibleName(tr("Mesh"));
  setFrameShape(QFrame::NoFrame);
  setFocusPolicy(Qt::StrongFocus);
  viewport()->setMouseTracking(true);
  viewport()->setAcceptDrops(true);
  viewport()->setAttribute(Qt::WA_OpaquePaintEvent);
  horizontalScrollBar()->setSingleStep(24);
  verticalScrollBar()->setSingleStep(24);
  m_clock.start();
}

MeshView::~MeshView() = default;

QString MeshView::mimeType() { return QStringLiteral("application/x-tessera-devices"); }

QPoint MeshView::offset() const {
  return {horizontalScrollBar()->value(), verticalScrollBar()->value()};
}

ScenePainter MeshView::painter() const {
  return ScenePainter(m_scene, m_layout, Theme::current(), !m_readOnly);
}

void MeshView::setScene(MeshScene scene) {
  m_watch.mark(&scene, m_clock.elapsed());
  if (scene == m_scene) return;
  const bool same = sameStructure(scene, m_scene);
  const bool flowsDiffer = scene.flows != m_scene.flows || !same;
  const bool ranksDiffer =  // the longest rank determines the text of number tiles
      scene.legend != m_scene.legend || scene.draft != m_scene.draft ||
      scene.colourBy != m_scene.colourBy || scene.isolated != m_scene.isolated;
  std::swap(scene, m_scene);
  if (!same) {
    pruneSelection();
    relayout();
    resetAccessibleChildren(this);
  } else if (ranksDiffer) {
    invalidate();
  } else {
    patch(scene);
  }
  if (flowsDiffer) reroute();
  regroup();
  updateTimers();
}

void MeshView::setGroupAxis(std::optional<ptc::Axis> axis) {
  if (axis == m_groupAxis) return;
  m_groupAxis = axis;
  regroup();
}

void MeshView::regroup() {
  std::optional<ptc::DeviceId> of = m_hovered;
  if (!of && m_highlighted.size() == 1) of = *m_highlighted.begin();  // pointed at in another view
  if (!of) of = m_current;
  std::set<ptc::DeviceId> group;
  if (of && m_groupAxis) group = groupAlong(m_scene, *of, *m_groupAxis);
  if (group == m_group) return;
  m_group = std::move(group);
  viewport()->update();
}

void MeshView::setReadOnly(bool readOnly) {
  if (m_readOnly == readOnly) return;
  m_readOnly = readOnly;
  m_drag.reset();
  relayout();
}

void MeshView::setReduceMotion(bool reduce) {
  if (m_reduceMotion == reduce) return;
  m_reduceMotion = reduce;
  updateTimers();
  viewport()->update();
}

void MeshView::setStale(double ageSeconds) {
  const double age = ageSeconds > kStaleAfter ? ageSeconds : 0;
  const bool differs =
      (age > 0) != (m_staleAge > 0) || (age > 0 && format::age(age) != format::age(m_staleAge));
  m_staleAge = age;
  if (!differs) return;
  updateTimers();
  viewport()->update();
}

void MeshView::setDragHint(std::function<QString(const QList<ptc::DeviceId>&, bool)> hint) {
  m_dragHint = std::move(hint);
}

void MeshView::setSelection(std::set<ptc::DeviceId> devices) {
  std::erase_if(devices, [this](ptc::DeviceId id) { return !m_scene.find(id); });
  if (devices == m_selection) return;
  m_selection = std::move(devices);
  routeOwn();
  viewport()->update();
  emit selectionChanged();
  notifyAccessibleSelection(this);
}

void MeshView::setHovered(std::optional<ptc::DeviceId> device) {
  if (device == m_hovered) return;
  QRegion dirty;
  for (const auto& each : {m_hovered, device}) {
    if (each) dirty |= cellRect(*each).adjusted(-2, -2, 2, 2);
  }
  m_hovered = device;
  const bool hadLines = !m_ownPaths.empty();
  routeOwn();
  if (hadLines || !m_ownPaths.empty()) {
    viewport()->update();
  } else {
    viewport()->update(dirty);
  }
  regroup();
  emit hoveredChanged(device);
}

void MeshView::setHighlighted(std::set<ptc::DeviceId> devices) {
  if (m_hovered) devices.erase(*m_hovered);  // drawn already
  if (devices == m_highlighted) return;
  m_highlighted = std::move(devices);
  regroup();
  routeOwn();
  viewport()->update();
}

void MeshView::setCurrent(ptc::DeviceId device) {
  if (!m_scene.find(device)) return;
  ensureVisible(m_layout.cellRect(device));
  if (m_current == device) return;
  m_current = device;
  regroup();
  viewport()->update();
  emit currentChanged(device);
  notifyAccessibleFocus(this, device);
}

void MeshView::pruneSelection() {
  if (m_current && !m_scene.find(*m_current)) m_current.reset();
  if (m_anchor && !m_scene.find(*m_anchor)) m_anchor.reset();
  if (m_hovered && !m_scene.find(*m_hovered)) m_hovered.reset();
  std::erase_if(m_cut, [this](ptc::DeviceId id) { return !m_scene.find(id); });
  const std::size_t before = m_selection.size();
  std::erase_if(m_selection, [this](ptc::DeviceId id) { return !m_scene.find(id); });
  if (m_selection.size() != before) emit selectionChanged();
}

QRect MeshView::cellRect(ptc::DeviceId device) const {
  const QRect rect = m_layout.cellRect(device);
  return rect.isNull() ? rect : toViewport(rect);
}

std::optional<ptc::DeviceId> MeshView::deviceAt(QPoint position) const {
  return m_layout.deviceAt(toContent(position));
}

QRect MeshView::poolRect() const {
  const QRect rect = m_layout.poolRect();
  return rect.isNull() ? rect : toViewport(rect);
}

QRect MeshView::poolLabelRect() const {
  const QRect rect = ScenePainter(m_scene, m_layout, Theme::current(), !m_readOnly).poolLabel();
  return rect.isNull() ? rect : toViewport(rect);
}

QRect MeshView::dropZoneRect() const {
  const QRect rect = m_layout.dropZoneRect();
  return rect.isNull() ? rect : toViewport(rect);
}

QRect MeshView::nodeRect(std::int32_t node) const {
  for (const auto& box : m_layout.boxes()) {
    const auto& group = m_scene.groups[static_cast<std::size_t>(box.group)];
    const bool whole =
        group.node && m_scene.nodes[static_cast<std::size_t>(*group.node)].node == node;
    if (whole || std::ranges::any_of(box.devices, [node](auto id) { return id.node == node; })) {
      return toViewport(box.frame);
    }
  }
  return {};
}

QRect MeshView::jobRect(const QString& job) const {
  for (const auto& box : m_layout.boxes()) {
    if (box.kind == MeshLayout::Kind::Job &&
        m_scene.groups[static_cast<std::size_t>(box.group)].name == job) {
      return toViewport(box.frame);
    }
  }
  return {};
}

void MeshView::setZoom(double zoom, std::optional<QPoint> anchor) {
  zoom = std::clamp(zoom, 0.25, 8.0);
  if (zoom == m_zoom) return;
  const QPoint at = anchor.value_or(viewport()->rect().center());
  // Follow the cell under the anchor, as frames wrap differently at another size; without one
  // keep the same share of the content.
  const auto device = deviceAt(at);
  const QRect before = device ? m_layout.cellRect(*device)
                              : QRect(QPoint(), m_layout.contentSize().expandedTo(QSize(1, 1)));
  const QPoint content = toContent(at) - before.topLeft();
  const QPointF share(content.x() / static_cast<double>(before.width()),
                      content.y() / static_cast<double>(before.height()));
  m_zoom = zoom;
  m_framed = false;
  relayout();
  const QRect after = device ? m_layout.cellRect(*device) : QRect(QPoint(), m_layout.contentSize());
  const QPoint target =
      after.topLeft() + QPointF(share.x() * after.width(), share.y() * after.height()).toPoint();
  horizontalScrollBar()->setValue(target.x() - at.x());
  verticalScrollBar()->setValue(target.y() - at.y());
  emit zoomed(m_zoom);
}

void MeshView::relayout() {
  QElapsedTimer timer;
  timer.start();
  m_layout = MeshLayout(m_scene, maximumViewportSize(), m_zoom, !m_readOnly);
  const QSize content = m_layout.contentSize();
  const QSize shown = maximumViewportSize();
  const auto range = [](QScrollBar* bar, int whole, int page) {
    bar->setPageStep(page);
    bar->setRange(0, std::max(0, whole - page));
  };
  // A scroll bar in one direction takes room in the other.
  const int thick = verticalScrollBar()->sizeHint().width();
  const bool tall = content.height() > shown.height();
  const bool wide = content.width() > shown.width() - (tall ? thick : 0);
  range(horizontalScrollBar(), content.width(), shown.width() - (tall ? thick : 0));
  range(verticalScrollBar(), content.height(), shown.height() - (wide ? thick : 0));
  m_timing.layout = milliseconds(timer);
  invalidate();
  reroute();
}

void MeshView::invalidate() {
  m_cellsDirty = viewport()->rect();
  m_flowsDirty = true;
  viewport()->update();
}

// At a fractional scale the edges of cells and strips lie inside pixels. A strip painted beside kept
// pixels would leave a seam, and each step of a scroll bar would add to the error.
bool MeshView::keepsCells() const {
  const qreal ratio = m_cells.devicePixelRatio();
  return !m_cells.isNull() && ratio == std::round(ratio);
}

void MeshView::patch(const MeshScene& before) {
  if (!keepsCells()) return invalidate();
  if (m_cellsDirty.contains(viewport()->rect())) return;
  QElapsedTimer timer;
  timer.start();
  const QRect visible(offset(), viewport()->size());
  const ScenePainter drawing = painter();
  QPainter into(&m_cells);
  into.translate(-offset());
  QRegion changed;
  bool poolDiffers = false;
  for (const auto& box : m_layout.boxes()) {
    if (!box.frame.intersects(visible)) continue;
    const auto& now = m_scene.groups[static_cast<std::size_t>(box.group)];
    const auto& was = before.groups[static_cast<std::size_t>(box.group)];
    QRegion clip;
    if (now.state != was.state || now.subtitle != was.subtitle || now.lastSeen != was.lastSeen ||
        now.highlighted != was.highlighted) {
      clip = box.frame;
    } else {
      for (std::size_t i = 0; i < box.cells.size(); ++i) {
        if (m_scene.at(box.cells[i]) != before.at(box.cells[i])) {
          // With the shadow, but without the gaps between cells.
          clip |= box.cellRect(static_cast<int>(i)).adjusted(0, 0, 0, 2);
        }
      }
    }
    if (clip.isEmpty()) continue;
    drawing.patchBox(into, box, clip);
    changed |= clip;
    poolDiffers |= box.kind == MeshLayout::Kind::Pool;
  }
  if (poolDiffers) {  // and with it perhaps the numbers in its heading
    const QRect pool = m_layout.poolRect();
    const QRect heading(pool.topLeft(), QSize(pool.width(), kPoolHeading));
    m_cellsDirty |= toViewport(heading) & viewport()->rect();
    changed |= heading;
  }
  m_timing.patch = milliseconds(timer);
  if (!changed.isEmpty()) viewport()->update(changed.translated(-offset()));
}

void MeshView::reroute() {
  std::vector<FlowPath> paths = routeFlows(m_scene, m_layout);
  const bool same = paths.size() == m_paths.size() &&
                    std::equal(paths.begin(), paths.end(), m_paths.begin(),
                               [](const auto& a, const auto& b) { return a.looksLike(b); });
  m_paths = std::move(paths);
  routeOwn();
  if (same) return;
  m_flowsDirty = true;
  viewport()->update();
}

void MeshView::routeOwn() {
  std::set<ptc::DeviceId> devices = m_selection;
  if (m_hovered) devices = {*m_hovered};  // of many selected devices the one pointed at
  if (devices.empty()) devices = m_highlighted;
  m_ownPaths = m_paths.empty() && m_scene.flows.empty() ? std::vector<FlowPath>()
                                                        : routeFlowsOf(devices, m_scene, m_layout);
}

void MeshView::renderCells() {
  const qreal ratio = devicePixelRatioF();
  const QSize pixels = (QSizeF(viewport()->size()) * ratio).toSize();
  if (m_cells.size() != pixels || m_cells.devicePixelRatio() != ratio) {
    m_cells = QImage(pixels, QImage::Format_RGB32);
    m_cells.setDevicePixelRatio(ratio);
    m_cells.fill(
        Theme::current().canvas);  // at a fractional scale the last pixel is only partly covered
    m_cellsDirty = viewport()->rect();
  }
  if (m_cellsDirty.isEmpty()) return;
  QElapsedTimer timer;
  timer.start();
  QPainter into(&m_cells);
  into.translate(-offset());
  const QRegion content = m_cellsDirty.translated(offset());
  into.setClipRegion(content);
  painter().paintAll(into, content.boundingRect());
  if (m_scene.nodes.empty()) {
    into.setFont(uiFont(15, QFont::DemiBold));
    into.setPen(Theme::current().dim);
    into.drawText(viewport()->rect().translated(offset()), Qt::AlignCenter, m_scene.emptyHint);
  }
  m_cellsDirty = QRegion();
  m_timing.cells = milliseconds(timer);
}

void MeshView::renderFlows() {
  if (m_paths.empty()) {
    m_flows = QImage();
    m_flowsDirty = false;
    return;
  }
  if (!m_flowsDirty && m_flows.size() == m_cells.size()) return;
  QElapsedTimer timer;
  timer.start();
  if (m_flows.size() != m_cells.size()) {
    m_flows = QImage(m_cells.size(), QImage::Format_ARGB32_Premultiplied);
    m_flows.setDevicePixelRatio(m_cells.devicePixelRatio());
  }
  m_flows.fill(Qt::transparent);
  QPainter into(&m_flows);
  into.translate(-offset());
  painter().paintFlows(into, m_paths);
  m_flowsDirty = false;
  m_timing.flows = milliseconds(timer);
}

void MeshView::paintEvent(QPaintEvent* event) {
  ++m_paintCount;
  renderCells();
  renderFlows();
  QElapsedTimer timer;
  timer.start();
  QPainter p(viewport());
  const QRect area = event->rect();
  // Whole layers, which Qt clips to what is to be painted: at a fractional scale the edges of that
  // lie inside pixels.
  const ScenePainter drawing = painter();
  const bool isPicture = paintsPicture(p, *viewport());
  if (isPicture) {
    p.translate(-offset());
    drawing.paintAll(p, area.translated(offset()));
    p.translate(offset());
  } else {
    p.drawImage(QPoint(0, 0), m_cells);
  }
  if (!m_flows.isNull()) {
    // All lines, or pale behind those of the devices that the user looks at.
    if (!m_ownPaths.empty()) p.setOpacity(kBehindOpacity);
    if (isPicture) {
      p.translate(-offset());
      drawing.paintFlows(p, m_paths);
      p.translate(offset());
    } else {
      p.drawImage(QPoint(0, 0), m_flows);
    }
    p.setOpacity(1);
  }

  p.setRenderHint(QPainter::Antialiasing);
  p.save();
  p.translate(-offset());
  const QRect visible = area.translated(offset()).adjusted(-4, -4, 4, 4);
  if (!m_ownPaths.empty()) drawing.paintFlows(p, m_ownPaths);
  if (animating()) {
    drawing.paintDots(p, m_ownPaths.empty() ? m_paths : m_ownPaths,
                      static_cast<double>(m_clock.elapsed()) / 1000);
  }
  for (const ptc::DeviceId id : m_group) {
    const QRect rect = m_layout.cellRect(id);
    if (rect.intersects(visible)) drawing.paintMember(p, rect);
  }
  for (const ptc::DeviceId id : m_selection) {
    const QRect rect = m_layout.cellRect(id);
    if (rect.intersects(visible)) drawing.paintSelected(p, rect);
  }
  for (const ptc::DeviceId id : m_highlighted) {
    const QRect rect = m_layout.cellRect(id);
    if (rect.intersects(visible)) drawing.paintSelected(p, rect);
  }
  for (const ptc::DeviceId id : m_cut) {
    const QRect rect = m_layout.cellRect(id);
    if (rect.intersects(visible)) drawing.paintSwap(p, rect);
  }
  if (m_hovered && m_press == Press::None && !m_drag && !m_selection.contains(*m_hovered)) {
    drawing.paintHovered(p, m_layout.cellRect(*m_hovered));
  }
  if (m_current && hasFocus()) drawing.paintCurrent(p, m_layout.cellRect(*m_current));
  const Theme& theme = Theme::current();
  if (m_press == Press::Band && !m_band.isNull()) {
    QColor tint = theme.accent;
    tint.setAlphaF(0.12F);
    p.setRenderHint(QPainter::Antialiasing, false);
    p.setPen(QPen(theme.accent, 1));
    p.setBrush(tint);
    p.drawRect(m_band.adjusted(0, 0, -1, -1));
  }
  if (m_drag && m_drag->swap) {
    drawing.paintSwap(p, m_layout.cellRect(*m_drag->swap));
  } else if (m_drag && !m_drag->crossing.isEmpty()) {
    drawing.paintDropTarget(p, m_drag->intoMesh);
  }
  p.restore();
  if (m_staleAge > 0) {
    QColor veil = theme.canvas;
    veil.setAlphaF(0.5F);
    p.fillRect(area, veil);
    drawing.paintPill(p, viewport()->rect(), tr("as of %1").arg(format::age(m_staleAge)));
  }
  if (m_drag) {
    drawing.paintGhost(p, m_drag->position, {m_drag->devices.begin(), m_drag->devices.end()},
                       m_drag->hint, viewport()->rect());
  }
  m_timing.frame = milliseconds(timer);
  if (animating() && !m_frameTimer.isActive()) updateTimers();
}

void MeshView::resizeEvent(QResizeEvent*) { relayout(); }

void MeshView::scrollContentsBy(int dx, int dy) {
  const QRect whole = viewport()->rect();
  if (!keepsCells() || std::abs(dx) >= whole.width() || std::abs(dy) >= whole.height()) {
    invalidate();
    return;
  }
  // Move the part that stays visible; paint the newly visible strips.
  QImage moved(m_cells.size(), m_cells.format());
  moved.setDevicePixelRatio(m_cells.devicePixelRatio());
  QPainter(&moved).drawImage(QPoint(dx, dy), m_cells);
  m_cells = std::move(moved);
  m_cellsDirty.translate(dx, dy);
  m_cellsDirty |= QRegion(whole) - whole.translated(dx, dy);
  m_cellsDirty &= whole;
  m_flowsDirty = true;
  viewport()->update();
}

void MeshView::changeEvent(QEvent* event) {
  switch (event->type()) {
    case QEvent::PaletteChange:
    case QEvent::ApplicationPaletteChange:
    case QEvent::StyleChange:
    case QEvent::FontChange:
      invalidate();
      break;
    default:
      break;
  }
  QAbstractScrollArea::changeEvent(event);
}

void MeshView::showEvent(QShowEvent* event) {
  QAbstractScrollArea::showEvent(event);
  updateTimers();
}

void MeshView::hideEvent(QHideEvent* event) {
  QAbstractScrollArea::hideEvent(event);
  updateTimers();
}

bool MeshView::animating() const {
  const auto& paths = m_ownPaths.empty() ? m_paths : m_ownPaths;
  const auto hasDots = [](const FlowPath& path) { return path.live && !path.stalled; };
  return !m_reduceMotion && m_staleAge <= 0 && isVisible() && std::ranges::any_of(paths, hasDots);
}

void MeshView::updateTimers() {
  const QWindow* host = window()->windowHandle();
  const bool exposed =
      isVisible() && host && host->isExposed() && !window()->isMinimized();
  if (animating() && exposed) {
    if (!m_frameTimer.isActive()) m_frameTimer.start(kFrameInterval, Qt::PreciseTimer, this);
  } else {
    m_frameTimer.stop();
  }
  if (m_scene.moving() && isVisible()) {
    if (!m_watchTimer.isActive()) m_watchTimer.start(kWatchInterval, this);
  } else {
    m_watchTimer.stop();
  }
}

void MeshView::timerEvent(QTimerEvent* event) {
  if (event->timerId() == m_frameTimer.timerId()) {
    updateTimers();  // stops the timers of a covered or minimised window
    if (m_frameTimer.isActive()) viewport()->update();
  } else if (event->timerId() == m_watchTimer.timerId()) {
    MeshScene marked = m_scene;
    if (!m_watch.mark(&marked, m_clock.elapsed())) return;
    std::swap(marked, m_scene);
    patch(marked);
    reroute();
    updateTimers();
    viewport()->update();  // removes the dots of stalled flows
  } else {
    QAbstractScrollArea::timerEvent(event);
  }
}

QString MeshView::toolTipAt(QPoint position) const {
  const auto device = deviceAt(position);
  const MeshScene::Cell* cell = device ? cellAt(*device) : nullptr;
  if (!cell) {
    const auto box = m_layout.headerAt(toContent(position));
    if (!box) return {};
    const auto& group = m_scene.groups[static_cast<std::size_t>(
        m_layout.boxes()[static_cast<std::size_t>(*box)].group)];
    return group.name + QLatin1Char('\n') + group.subtitle;
  }
  QString text = describe(*cell);
  if (cell->total > 0) text += QLatin1Char('\n') + format::bytesOf(cell->used, cell->total);
  return text;
}

bool MeshView::viewportEvent(QEvent* event) {
  switch (event->type()) {
    case QEvent::ToolTip: {
      const auto* help = static_cast<QHelpEvent*>(event);
      const QString text = toolTipAt(help->pos());
      if (text.isEmpty()) {
        QToolTip::hideText();
        event->ignore();
      } else {
        const auto device = deviceAt(help->pos());
        QToolTip::showText(help->globalPos(), text, viewport(),
                           device ? cellRect(*device) : QRect(help->pos(), QSize(1, 1)));
      }
      return true;
    }
    case QEvent::Leave:
      setHovered(std::nullopt);
      break;
    default:
      break;
  }
  return QAbstractScrollArea::viewportEvent(event);
}

}  // namespace tessera::ui
