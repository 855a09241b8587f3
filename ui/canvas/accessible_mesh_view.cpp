// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/canvas/accessible_mesh_view.h"

#include <QAccessible>
#include <QAccessibleActionInterface>
#include <QAccessibleInterface>
#include <QAccessibleWidget>
#include <algorithm>
#include <map>

#include "ui/canvas/mesh_view.h"

namespace tessera::ui {
namespace {

/// One GPU. Lives as long as its position in the view's order.
class AccessibleCell : public QAccessibleInterface, public QAccessibleActionInterface {
 public:
  AccessibleCell(MeshView* view, ptc::DeviceId device) : m_view(view), m_device(device) {}

  ptc::DeviceId device() const { return m_device; }

  bool isValid() const override { return m_view && m_view->scene().find(m_device); }
  QObject* object() const override { return nullptr; }
  QWindow* window() const override { return m_view->window()->windowHandle(); }
  QAccessibleInterface* parent() const override {
    return QAccessible::queryAccessibleInterface(m_view);
  }
  QAccessibleInterface* child(int) const override { return nullptr; }
  QAccessibleInterface* childAt(int, int) const override { return nullptr; }
  int childCount() const override { return 0; }
  int indexOfChild(const QAccessibleInterface*) const override { return -1; }
  QAccessible::Role role() const override { return QAccessible::ListItem; }

  QString text(QAccessible::Text kind) const override {
    const MeshScene::Cell* cell = m_view->scene().find(m_device);
    return cell && kind == QAccessible::Name ? describe(*cell) : QString();
  }
  void setText(QAccessible::Text, const QString&) override {}
  QRect rect() const override {
    const QRect inside = m_view->cellRect(m_device);
    return {m_view->viewport()->mapToGlobal(inside.topLeft()), inside.size()};
  }
  QAccessible::State state() const override {
    QAccessible::State state;
    state.selectable = state.focusable = state.multiSelectable = true;
    state.selected = m_view->selection().contains(m_device);
    state.focused = m_view->hasFocus() && m_view->current() == m_device;
    state.offscreen = !m_view->viewport()->rect().intersects(m_view->cellRect(m_device));
    return state;
  }

  void* interface_cast(QAccessible::InterfaceType type) override {
    return type == QAccessible::ActionInterface ? static_cast<QAccessibleActionInterface*>(this)
                                                : nullptr;
  }
  QStringList actionNames() const override {
    QStringList names{pressAction()};
    if (!m_view->isReadOnly()) names += toggleAction();
    return names;
  }
  void doAction(const QString& name) override {
    if (name == pressAction()) {
      m_view->setSelection({m_device});
      m_view->setCurrent(m_device);
    } else if (name == toggleAction() && !m_view->isReadOnly()) {
      emit m_view->toggleRequested({m_device});
    }
  }
  QStringList keyBindingsForAction(const QString& name) const override {
    return name == toggleAction() ? QStringList{QStringLiteral("Space")} : QStringList();
  }

 private:
  MeshView* m_view;
  ptc::DeviceId m_device;
};

/// The view itself. Its children are the GPUs only, without viewport and scroll bars.
class AccessibleMeshView : public QAccessibleWidget {
 public:
  explicit AccessibleMeshView(MeshView* view) : QAccessibleWidget(view, QAccessible::List) {}
  ~AccessibleMeshView() override { forget(); }

  int childCount() const override { return static_cast<int>(view()->devices().size()); }

  QAccessibleInterface* child(int index) const override {
    const auto& devices = view()->devices();
    if (index < 0 || static_cast<std::size_t>(index) >= devices.size()) return nullptr;
    return childOf(devices[static_cast<std::size_t>(index)]);
  }
  QAccessibleInterface* childOf(ptc::DeviceId device) const {
    const auto [it, isNew] = m_children.try_emplace(device, 0U);
    if (isNew) {
      it->second = QAccessible::registerAccessibleInterface(new AccessibleCell(view(), device));
    }
    return QAccessible::accessibleInterface(it->second);
  }
  QAccessibleInterface* childAt(int x, int y) const override {
    const auto device = view()->deviceAt(view()->viewport()->mapFromGlobal(QPoint(x, y)));
    return device ? childOf(*device) : nullptr;
  }
  int indexOfChild(const QAccessibleInterface* child) const override {
    const auto* cell = dynamic_cast<const AccessibleCell*>(child);
    if (!cell) return -1;
    const auto& devices = view()->devices();
    const auto at = std::find(devices.begin(), devices.end(), cell->device());
    return at == devices.end() ? -1 : static_cast<int>(at - devices.begin());
  }
  QAccessibleInterface* focusChild() const override {
    const auto current = view()->current();
    return view()->hasFocus() && current ? childOf(*current) : nullptr;
  }

  void forget() {
    for (const auto& [device, id] : m_children) QAccessible::deleteAccessibleInterface(id);
    m_children.clear();
  }

 private:
  MeshView* view() const { return static_cast<MeshView*>(widget()); }
  mutable std::map<ptc::DeviceId, QAccessible::Id> m_children;
};

QAccessibleInterface* makeInterface(const QString& className, QObject* object) {
  if (className != QLatin1String(MeshView::staticMetaObject.className())) return nullptr;
  auto* view = qobject_cast<MeshView*>(object);
  return view ? new AccessibleMeshView(view) : nullptr;
}

// Null while no assistive technology is active, so that nothing is built for it.
AccessibleMeshView* interfaceOf(MeshView* view) {
  if (!QAccessible::isActive()) return nullptr;
  return dynamic_cast<AccessibleMeshView*>(QAccessible::queryAccessibleInterface(view));
}

}  // namespace

void installAccessibleMeshView() {
  static const bool installed = (QAccessible::installFactory(makeInterface), true);
  Q_UNUSED(installed)
}

void resetAccessibleChildren(MeshView* view) {
  if (AccessibleMeshView* list = interfaceOf(view)) {
    list->forget();
    QAccessibleEvent event(view, QAccessible::ObjectReorder);
    QAccessible::updateAccessibility(&event);
  }
}

void notifyAccessibleFocus(MeshView* view, ptc::DeviceId device) {
  AccessibleMeshView* list = interfaceOf(view);
  if (!list || !view->hasFocus()) return;
  QAccessibleEvent event(list->childOf(device), QAccessible::Focus);
  QAccessible::updateAccessibility(&event);
}

void notifyAccessibleSelection(MeshView* view) {
  if (!interfaceOf(view)) return;
  QAccessibleEvent event(view, QAccessible::SelectionWithin);
  QAccessible::updateAccessibility(&event);
}

}  // namespace tessera::ui
