// SPDX-License-Identifier: GPL-3.0-or-later
// Mouse, keys and drags of MeshView.
#include <QApplication>
#include <QContextMenuEvent>
#include <QDrag>
#include <QDropEvent>
#include <QKeyEvent>
#include <QMimeData>
#include <QMouseEvent>
#include <QPixmap>
#include <QScrollBar>
#include <QWheelEvent>
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "ui/canvas/mesh_view.h"
#include "ui/format.h"

namespace tessera::ui {
namespace {

// Returns the distance from `from` to `to` in the direction of an arrow key, or nothing if `to` is
// not in that direction. Sideways distance counts more, so that keys follow a row or column to its
// end.
std::optional<double> distanceTowards(int key, QPoint from, QPoint to) {
  const QPoint d = to - from;
  const bool across = key == Qt::Key_Left || key == Qt::Key_Right;
  const int ahead = (key == Qt::Key_Left || key == Qt::Key_Up) ? -(across ? d.x() : d.y())
                                                               : (across ? d.x() : d.y());
  const int aside = std::abs(across ? d.y() : d.x());
  if (ahead <= 0) return std::nullopt;
  return ahead + 3.0 * aside;
}

/// The axis whose groups a key lights up.
std::optional<ptc::Axis> axisOfKey(int key) {
  switch (key) {
    case Qt::Key_T:
      return ptc::Axis::kTp;
    case Qt::Key_D:
      return ptc::Axis::kDp;
    case Qt::Key_P:
      return ptc::Axis::kPp;
    case Qt::Key_E:
      return ptc::Axis::kEp;
    case Qt::Key_C:
      return ptc::Axis::kCp;
    default:
      return std::nullopt;
  }
}

bool isArrow(int key) {
  return key == Qt::Key_Left || key == Qt::Key_Right || key == Qt::Key_Up || key == Qt::Key_Down;
}

}  // namespace

bool MeshView::canMove(ptc::DeviceId device) const {
  const MeshScene::Cell* cell = cellAt(device);
  return cell && !cell->taken && cell->state != MeshScene::Cell::State::Loading;
}

std::vector<ptc::DeviceId> MeshView::devicesOfBox(int box) const {
  return m_layout.boxes()[static_cast<std::size_t>(box)].devices;
}

// With Ctrl, adds the devices, or removes them if all are already selected. Otherwise replaces the
// selection.
void MeshView::select(const std::vector<ptc::DeviceId>& devices, Qt::KeyboardModifiers modifiers) {
  if (devices.empty()) return;
  std::set<ptc::DeviceId> chosen;
  if (modifiers & Qt::ControlModifier) {
    chosen = m_selection;
    const bool all = std::all_of(devices.begin(), devices.end(),
                                 [&](ptc::DeviceId id) { return chosen.contains(id); });
    for (const ptc::DeviceId id : devices) {
      if (all) {
        chosen.erase(id);
      } else {
        chosen.insert(id);
      }
    }
  } else {
    chosen.insert(devices.begin(), devices.end());
  }
  m_anchor = devices.front();
  setSelection(std::move(chosen));
  setCurrent(devices.front());
}

void MeshView::extendTo(ptc::DeviceId device) {
  const auto& order = m_layout.order();
  if (!m_anchor) m_anchor = m_current.value_or(device);
  auto from = std::find(order.begin(), order.end(), *m_anchor);
  auto to = std::find(order.begin(), order.end(), device);
  if (from == order.end() || to == order.end()) return;
  if (to < from) std::swap(from, to);
  setSelection({from, to + 1});
  setCurrent(device);
}

std::optional<ptc::DeviceId> MeshView::neighbour(int key, bool byNode) const {
  if (!m_current) return std::nullopt;
  const QPoint from = m_layout.cellRect(*m_current).center();
  if (!byNode) {
    std::optional<ptc::DeviceId> best;
    double least = std::numeric_limits<double>::max();
    for (const ptc::DeviceId id : m_layout.order()) {
      const auto distance = distanceTowards(key, from, m_layout.cellRect(id).center());
      if (distance && *distance < least) {
        least = *distance;
        best = id;
      }
    }
    return best;
  }
  const auto here = m_layout.boxOf(*m_current);
  if (!here) return std::nullopt;
  const auto& boxes = m_layout.boxes();
  const auto& box = boxes[static_cast<std::size_t>(*here)];
  const MeshLayout::Box* best = nullptr;
  double least = std::numeric_limits<double>::max();
  for (const auto& other : boxes) {
    if (&other == &box || other.devices.empty()) continue;
    const auto distance = distanceTowards(key, box.frame.center(), other.frame.center());
    if (distance && *distance < least) {
      least = *distance;
      best = &other;
    }
  }
  if (!best) return std::nullopt;
  const auto at = std::find(box.devices.begin(), box.devices.end(), *m_current);
  const auto place = static_cast<std::size_t>(at - box.devices.begin());
  return best->devices[std::min(place, best->devices.size() - 1)];
}

void MeshView::moveCurrent(int key, Qt::KeyboardModifiers modifiers) {
  const auto& order = m_layout.order();
  if (order.empty()) return;
  std::optional<ptc::DeviceId> target;
  if (key == Qt::Key_Home) {
    target = order.front();
  } else if (key == Qt::Key_End) {
    target = order.back();
  } else if (!m_current) {
    target = order.front();
  } else {
    target = neighbour(key, modifiers & Qt::ControlModifier);
  }
  if (!target) return;
  if (modifiers & Qt::ShiftModifier) {
    extendTo(*target);
  } else {
    select({*target}, Qt::NoModifier);
  }
}

void MeshView::keyPressEvent(QKeyEvent* event) {
  const int key = event->key();
  const auto modifiers = event->modifiers() & ~Qt::KeypadModifier;
  const bool plain = modifiers == Qt::NoModifier || modifiers == Qt::ShiftModifier;
  if (isArrow(key) || key == Qt::Key_Home || key == Qt::Key_End) {
    moveCurrent(key, modifiers);
  } else if (event->matches(QKeySequence::SelectAll)) {
    setSelection({m_layout.order().begin(), m_layout.order().end()});
  } else if (key == Qt::Key_Space && plain) {
    std::set<ptc::DeviceId> chosen = m_selection;
    if (chosen.empty() && m_current) chosen.insert(*m_current);
    QList<ptc::DeviceId> devices;
    for (const ptc::DeviceId id : chosen) {
      if (canMove(id)) devices.append(id);
    }
    if (!m_readOnly && !m_scene.jobName.isEmpty() && !devices.isEmpty()) {
      emit toggleRequested(devices);
    }
  } else if (key == Qt::Key_N && plain) {
    if (const MeshScene::Cell* at = m_current ? cellAt(*m_current) : nullptr) {
      const ptc::DeviceId current = *m_current;
      std::vector<ptc::DeviceId> devices;
      for (const ptc::DeviceId id : m_layout.order()) {
        const MeshScene::Cell* cell = cellAt(id);
        if (id.node == current.node && cell->inMesh == at->inMesh && cell->taken == at->taken) {
          devices.push_back(id);
        }
      }
      select(devices, Qt::NoModifier);
      setCurrent(current);
    }
  } else if (event->matches(QKeySequence::Cut)) {
    cutSelection();
  } else if (event->matches(QKeySequence::Paste)) {
    pasteSwap();
  } else if ((key == Qt::Key_Return || key == Qt::Key_Enter) && plain) {
    if (m_current) activate(*m_current);
  } else if (key == Qt::Key_Plus || key == Qt::Key_Equal) {
    setZoom(m_zoom * 1.25);
  } else if (key == Qt::Key_Minus) {
    setZoom(m_zoom / 1.25);
  } else if (key == Qt::Key_0 && modifiers == Qt::NoModifier) {
    setZoom(1);
  } else if (key == Qt::Key_F && plain) {
    frameSelection();
  } else if (const auto axis = axisOfKey(key); axis && modifiers == Qt::NoModifier) {
    emit axisRequested(*axis);
  } else {
    QAbstractScrollArea::keyPressEvent(event);
    event->ignore();  // so that other keys, such as Esc, reach the window
    return;
  }
  event->accept();
}

void MeshView::activate(ptc::DeviceId device) {
  const MeshScene::Cell* cell = cellAt(device);
  if (cell && cell->taken) {
    const QString owner = cell->owner;  // showing the job replaces the scene
    emit jobRequested(owner);
  } else {
    emit activated(device);
  }
}

void MeshView::cutSelection() {
  if (m_readOnly || m_scene.jobName.isEmpty()) return;
  std::set<ptc::DeviceId> chosen = m_selection;
  if (chosen.empty() && m_current) chosen.insert(*m_current);
  m_cut.clear();
  for (const ptc::DeviceId id : chosen) {
    if (canMove(id)) m_cut.push_back(id);
  }
  viewport()->update();
  if (m_cut.empty()) emit refused(tr("Select GPUs of the job or of the pool first."));
}

void MeshView::pasteSwap() {
  if (m_readOnly || m_scene.jobName.isEmpty()) return;
  if (m_cut.empty()) {
    emit refused(tr("Mark the GPUs to swap first, with Ctrl+X."));
    return;
  }
  std::vector<ptc::DeviceId> targets(m_selection.begin(), m_selection.end());
  if (targets.empty() && m_current) targets.push_back(*m_current);
  if (targets.size() == 1) {
    const auto& order = m_layout.order();
    auto next = std::find(order.begin(), order.end(), targets.front());
    targets.clear();
    for (; next != order.end() && targets.size() < m_cut.size(); ++next) {
      if (canMove(*next)) targets.push_back(*next);
    }
  }
  const bool overlaps = std::ranges::any_of(
      targets, [&](ptc::DeviceId id) { return std::ranges::find(m_cut, id) != m_cut.end(); });
  if (targets.size() != m_cut.size() || overlaps ||
      !std::ranges::all_of(targets, [this](ptc::DeviceId id) { return canMove(id); })) {
    emit refused(tr("Select %1 to swap with, other than those marked and of no other job.")
                     .arg(format::gpus(std::ssize(m_cut))));
    return;
  }
  const auto cut = std::exchange(m_cut, {});
  viewport()->update();
  emit swapRequested({cut.begin(), cut.end()}, {targets.begin(), targets.end()});
}

std::optional<QString> MeshView::jobHeaderAt(QPoint position) const {
  const auto box = m_layout.headerAt(toContent(position));
  if (!box) return std::nullopt;
  const auto& found = m_layout.boxes()[static_cast<std::size_t>(*box)];
  if (found.kind != MeshLayout::Kind::Job) return std::nullopt;
  return m_scene.groups[static_cast<std::size_t>(found.group)].name;
}

void MeshView::frameSelection() { frame(m_framed ? std::set<ptc::DeviceId>() : m_selection); }

void MeshView::frame(const std::set<ptc::DeviceId>& devices) {
  const auto bounds = [&] {
    QRect all;
    for (const ptc::DeviceId id : devices) all |= m_layout.cellRect(id);
    return all;
  };
  if (bounds().isNull()) {
    setZoom(1);
    return;
  }
  const QRect before = bounds().adjusted(-24, -48, 24, 24);
  const QSize room = maximumViewportSize();
  setZoom(m_zoom * std::min(room.width() / static_cast<double>(before.width()),
                            room.height() / static_cast<double>(before.height())));
  const QPoint middle = bounds().center();
  horizontalScrollBar()->setValue(middle.x() - viewport()->width() / 2);
  verticalScrollBar()->setValue(middle.y() - viewport()->height() / 2);
  m_framed = true;
}

void MeshView::ensureVisible(const QRect& content) {
  if (content.isNull()) return;
  const auto reveal = [](QScrollBar* bar, int low, int high, int page) {
    constexpr int kMargin = 16;
    if (low - kMargin < bar->value()) bar->setValue(low - kMargin);
    if (high + kMargin > bar->value() + page) bar->setValue(high + kMargin - page);
  };
  reveal(horizontalScrollBar(), content.left(), content.right(), viewport()->width());
  reveal(verticalScrollBar(), content.top(), content.bottom(), viewport()->height());
}

void MeshView::focusInEvent(QFocusEvent* event) {
  // Show the focus if it came by keyboard.
  const bool byKey =
      event->reason() != Qt::MouseFocusReason && event->reason() != Qt::ActiveWindowFocusReason;
  if (byKey && !m_current && !m_layout.order().empty()) setCurrent(m_layout.order().front());
  QAbstractScrollArea::focusInEvent(event);
  viewport()->update();
}

void MeshView::focusOutEvent(QFocusEvent* event) {
  QAbstractScrollArea::focusOutEvent(event);
  viewport()->update();
}

void MeshView::pressDevices(std::vector<ptc::DeviceId> devices, Qt::KeyboardModifiers modifiers) {
  if (devices.empty()) return;
  const bool areSelected = std::ranges::all_of(
      devices, [this](ptc::DeviceId device) { return m_selection.contains(device); });
  if (areSelected && !(modifiers & Qt::ControlModifier)) {
    m_selectOnRelease = true;  // unless a drag of the whole selection starts here
    m_anchor = devices.front();
    setCurrent(devices.front());
  } else {
    select(devices, modifiers & Qt::ControlModifier);
  }
  m_press = Press::Gpus;
  m_pressedDevices = std::move(devices);
}

std::vector<ptc::DeviceId> MeshView::devicesOfPool() const {
  std::vector<ptc::DeviceId> devices;
  for (const MeshLayout::Box& box : m_layout.boxes()) {
    if (box.kind == MeshLayout::Kind::Pool)
      devices.insert(devices.end(), box.devices.begin(), box.devices.end());
  }
  return devices;
}

void MeshView::mousePressEvent(QMouseEvent* event) {
  m_pressed = event->position().toPoint();
  m_selectOnRelease = false;
  if (event->button() == Qt::MiddleButton) {
    m_press = Press::Pan;
    viewport()->setCursor(Qt::ClosedHandCursor);
    return;
  }
  if (event->button() != Qt::LeftButton) return;
  if (const auto device = deviceAt(m_pressed)) {
    if (!(event->modifiers() & Qt::ShiftModifier))
      return pressDevices({*device}, event->modifiers());
    m_press = Press::Gpus;
    m_pressedDevices = {*device};
    return extendTo(*device);
  }
  if (const auto job = jobHeaderAt(m_pressed)) {
    emit jobRequested(*job);
    return;
  }
  if (const auto box = m_layout.headerAt(toContent(m_pressed))) {
    return pressDevices(devicesOfBox(*box), event->modifiers());
  }
  if (poolLabelRect().contains(m_pressed)) {
    if (auto idle = devicesOfPool(); !idle.empty())
      return pressDevices(std::move(idle), event->modifiers());
  }
  m_press = Press::Band;
  m_band = QRect();
  const bool keep = event->modifiers() & (Qt::ControlModifier | Qt::ShiftModifier);
  m_bandBase = keep ? m_selection : std::set<ptc::DeviceId>();
  setSelection(m_bandBase);
}

void MeshView::mouseMoveEvent(QMouseEvent* event) {
  const QPoint at = event->position().toPoint();
  switch (m_press) {
    case Press::None: {
      setHovered(deviceAt(at));
      if (jobHeaderAt(at)) {
        viewport()->setCursor(Qt::PointingHandCursor);
      } else {
        viewport()->unsetCursor();
      }
      return;
    }
    case Press::Gpus:
      if ((at - m_pressed).manhattanLength() >= QApplication::startDragDistance()) startDrag();
      return;
    case Press::Band:
      m_band = QRect(toContent(m_pressed), toContent(at)).normalized();
      updateBand();
      return;
    case Press::Pan: {
      const QPoint by = at - m_pressed;
      m_pressed = at;
      horizontalScrollBar()->setValue(horizontalScrollBar()->value() - by.x());
      verticalScrollBar()->setValue(verticalScrollBar()->value() - by.y());
      return;
    }
  }
}

void MeshView::updateBand() {
  std::set<ptc::DeviceId> chosen = m_bandBase;
  for (const auto& box : m_layout.boxes()) {
    if (!box.frame.intersects(m_band)) continue;
    for (std::size_t i = 0; i < box.devices.size(); ++i) {
      if (box.cellRect(static_cast<int>(i)).intersects(m_band)) chosen.insert(box.devices[i]);
    }
  }
  setSelection(std::move(chosen));
  viewport()->update();
}

void MeshView::mouseReleaseEvent(QMouseEvent* event) {
  const Press press = std::exchange(m_press, Press::None);
  if (press == Press::Pan) viewport()->unsetCursor();
  if (press == Press::Gpus && m_selectOnRelease && event->button() == Qt::LeftButton) {
    select(m_pressedDevices, Qt::NoModifier);
  }
  if (press == Press::Band) {
    m_band = QRect();
    viewport()->update();
  }
}

void MeshView::mouseDoubleClickEvent(QMouseEvent* event) {
  if (const auto device = deviceAt(event->position().toPoint())) {
    activate(*device);
  }
}

void MeshView::wheelEvent(QWheelEvent* event) {
  if (event->modifiers() & Qt::ControlModifier) {
    setZoom(m_zoom * std::pow(1.25, event->angleDelta().y() / 120.0), event->position().toPoint());
    event->accept();
    return;
  }
  QAbstractScrollArea::wheelEvent(event);
}

void MeshView::contextMenuEvent(QContextMenuEvent* event) {
  const bool byKey = event->reason() == QContextMenuEvent::Keyboard;
  const auto device = byKey ? m_current : deviceAt(event->pos());
  if (!device) return event->ignore();
  if (!m_selection.contains(*device)) select({*device}, Qt::NoModifier);
  const QPoint where =
      byKey ? viewport()->mapToGlobal(cellRect(*device).center()) : event->globalPos();
  emit contextMenuRequested(*device, where);
}

// Drags the pressed cells and the selected ones on their side. Cells on the other side stay.
void MeshView::startDrag() {
  m_press = Press::None;
  m_selectOnRelease = false;
  const auto movable = std::ranges::find_if(
      m_pressedDevices, [this](ptc::DeviceId device) { return canMove(device); });
  if (m_readOnly || movable == m_pressedDevices.end() || m_scene.jobName.isEmpty()) return;
  const MeshScene::Cell* pressed = cellAt(*movable);
  std::vector<ptc::DeviceId> devices;
  std::set<ptc::DeviceId> seen;
  const auto take = [&](ptc::DeviceId id) {
    const MeshScene::Cell* cell = cellAt(id);
    if (seen.insert(id).second && cell && cell->inMesh == pressed->inMesh && canMove(id))
      devices.push_back(id);
  };
  std::ranges::for_each(m_pressedDevices, take);
  std::ranges::for_each(m_selection, take);
  auto* mime = new QMimeData;
  mime->setData(mimeType(), QByteArray::fromStdString(ptc::ToString(devices)));
  auto* drag = new QDrag(this);
  drag->setMimeData(mime);
  // The view paints the ghost itself, because its text changes during the drag.
  QPixmap nothing(1, 1);
  nothing.fill(Qt::transparent);
  drag->setPixmap(nothing);
  drag->exec(Qt::MoveAction);
  m_drag.reset();
  viewport()->update();
}

// Follows a drag of devices. Returns whether a drop here would move any to the other side.
bool MeshView::track(QDropEvent* event) {
  if (m_readOnly || m_scene.jobName.isEmpty() || !event->mimeData()->hasFormat(mimeType())) {
    return false;
  }
  Drag drag;
  drag.position = event->position().toPoint();
  if (m_drag) {
    drag.devices = m_drag->devices;
  } else {
    const auto parsed = ptc::ParseDevices(event->mimeData()->data(mimeType()).toStdString());
    if (!parsed) return false;  // not written by this program
    drag.devices = QList<ptc::DeviceId>(parsed->begin(), parsed->end());
  }
  const QPoint at = toContent(drag.position);
  drag.intoMesh = !m_layout.isPoolAt(at);
  const auto other = m_layout.jobAt(at);
  const auto onto = other ? std::nullopt : m_layout.deviceAt(at);
  const MeshScene::Cell* only = drag.devices.size() == 1 ? cellAt(drag.devices.front()) : nullptr;
  if (other) {
    const auto& box = m_layout.boxes()[static_cast<std::size_t>(*other)];
    drag.hint = tr("%1 runs there: its GPUs cannot be taken")
                    .arg(m_scene.groups[static_cast<std::size_t>(box.group)].name);
  } else if (only && only->inMesh && drag.intoMesh && onto && *onto != only->id &&
             canMove(only->id) && canMove(*onto)) {
    drag.swap = onto;
    drag.hint = tr("swap %1 and %2").arg(format::device(only->id), format::device(*onto));
  } else {
    for (const ptc::DeviceId id : drag.devices) {
      const MeshScene::Cell* cell = cellAt(id);
      if (cell && canMove(id) && cell->inMesh != drag.intoMesh) drag.crossing.append(id);
    }
  }
  if (!drag.crossing.isEmpty()) {
    const QString number = format::gpus(drag.crossing.size());
    drag.hint = m_dragHint      ? m_dragHint(drag.crossing, drag.intoMesh)
                : drag.intoMesh ? tr("add %1 to %2").arg(number, m_scene.jobName)
                                : tr("remove %1 from %2").arg(number, m_scene.jobName);
  }
  m_drag = std::move(drag);
  viewport()->update();
  return m_drag->hasEffect();
}

void MeshView::dragEnterEvent(QDragEnterEvent* event) {
  // Accepted even if a drop here has no effect, because the drag may continue elsewhere.
  track(event);
  event->setAccepted(m_drag.has_value());
}

void MeshView::dragMoveEvent(QDragMoveEvent* event) {
  if (track(event)) {
    event->setDropAction(Qt::MoveAction);
    event->accept();
  } else {
    event->ignore();
  }
}

void MeshView::dragLeaveEvent(QDragLeaveEvent*) {
  m_drag.reset();
  viewport()->update();
}

void MeshView::dropEvent(QDropEvent* event) {
  const bool hasEffect = track(event);
  const auto drag = std::exchange(m_drag, std::nullopt);
  viewport()->update();
  if (!hasEffect) {
    event->ignore();
    if (drag && !drag->hint.isEmpty()) emit refused(drag->hint + QLatin1Char('.'));
    return;
  }
  event->setDropAction(Qt::MoveAction);
  event->accept();
  if (drag->swap) {
    emit swapRequested({drag->devices.front()}, {*drag->swap});
  } else {
    emit devicesDropped(drag->crossing, drag->intoMesh);
  }
}

}  // namespace tessera::ui
