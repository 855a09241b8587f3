// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/accessible_link_canvas.h"

#include <QAccessible>
#include <QAccessibleActionInterface>
#include <QAccessibleInterface>
#include <QAccessibleWidget>
#include <QWindow>
#include <map>

namespace tessera::ui {
namespace {

class AccessibleLink : public QAccessibleInterface, public QAccessibleActionInterface {
 public:
  AccessibleLink(LinkCanvas* canvas, LinkCanvas::Cell cell) : m_canvas(canvas), m_cell(cell) {}

  LinkCanvas::Cell cell() const { return m_cell; }

  bool isValid() const override {
    const int size = m_canvas->matrix().size();
    return m_cell.from < size && m_cell.to < size;
  }
  QObject* object() const override { return nullptr; }
  QWindow* window() const override { return m_canvas->window()->windowHandle(); }
  QAccessibleInterface* parent() const override {
    return QAccessible::queryAccessibleInterface(m_canvas);
  }
  QAccessibleInterface* child(int) const override { return nullptr; }
  QAccessibleInterface* childAt(int, int) const override { return nullptr; }
  int childCount() const override { return 0; }
  int indexOfChild(const QAccessibleInterface*) const override { return -1; }
  QAccessible::Role role() const override { return QAccessible::Cell; }

  QString text(QAccessible::Text kind) const override {
    return isValid() && kind == QAccessible::Name
               ? describeLink(m_canvas->matrix(), m_cell.from, m_cell.to)
               : QString();
  }
  void setText(QAccessible::Text, const QString&) override {}
  QRect rect() const override {
    const QRect inside = m_canvas->cellRect(m_cell);
    return {m_canvas->viewport()->mapToGlobal(inside.topLeft()), inside.size()};
  }
  QAccessible::State state() const override {
    QAccessible::State state;
    state.selectable = state.focusable = true;
    state.selected = m_canvas->chosen() == m_cell;
    state.focused = m_canvas->hasFocus() && m_canvas->current() == m_cell;
    state.offscreen = !m_canvas->viewport()->rect().intersects(m_canvas->cellRect(m_cell));
    return state;
  }

  void* interface_cast(QAccessible::InterfaceType type) override {
    return type == QAccessible::ActionInterface ? static_cast<QAccessibleActionInterface*>(this)
                                                : nullptr;
  }
  QStringList actionNames() const override { return {pressAction()}; }
  void doAction(const QString& name) override {
    if (name != pressAction() || !isValid()) return;
    m_canvas->setCurrent(m_cell);
    m_canvas->setChosen(m_cell);
  }
  QStringList keyBindingsForAction(const QString&) const override { return {}; }

 private:
  LinkCanvas* m_canvas;
  LinkCanvas::Cell m_cell;
};

/// The canvas itself. Its children are the cells only, without viewport and scroll bars.
class AccessibleLinkCanvas : public QAccessibleWidget {
 public:
  explicit AccessibleLinkCanvas(LinkCanvas* canvas)
      : QAccessibleWidget(canvas, QAccessible::Table) {}
  ~AccessibleLinkCanvas() override { forget(); }

  int childCount() const override { return size() * size(); }
  QAccessibleInterface* child(int index) const override {
    if (index < 0 || index >= childCount()) return nullptr;
    return childOf({index / size(), index % size()});
  }
  QAccessibleInterface* childOf(LinkCanvas::Cell cell) const {
    const auto [it, isNew] = m_children.try_emplace(cell, 0U);
    if (isNew) {
      it->second = QAccessible::registerAccessibleInterface(new AccessibleLink(canvas(), cell));
    }
    return QAccessible::accessibleInterface(it->second);
  }
  QAccessibleInterface* childAt(int x, int y) const override {
    const auto cell = canvas()->cellAt(canvas()->viewport()->mapFromGlobal(QPoint(x, y)));
    return cell ? childOf(*cell) : nullptr;
  }
  int indexOfChild(const QAccessibleInterface* child) const override {
    const auto* link = dynamic_cast<const AccessibleLink*>(child);
    return link == nullptr ? -1 : link->cell().from * size() + link->cell().to;
  }
  QAccessibleInterface* focusChild() const override {
    const auto current = canvas()->current();
    return canvas()->hasFocus() && current ? childOf(*current) : nullptr;
  }

  void forget() {
    for (const auto& [cell, id] : m_children) QAccessible::deleteAccessibleInterface(id);
    m_children.clear();
  }

 private:
  LinkCanvas* canvas() const { return static_cast<LinkCanvas*>(widget()); }
  int size() const { return canvas()->matrix().size(); }
  mutable std::map<LinkCanvas::Cell, QAccessible::Id> m_children;
};

QAccessibleInterface* makeLinkInterface(const QString& className, QObject* object) {
  if (className != QLatin1String(LinkCanvas::staticMetaObject.className())) return nullptr;
  auto* canvas = qobject_cast<LinkCanvas*>(object);
  return canvas ? new AccessibleLinkCanvas(canvas) : nullptr;
}

// Null while no assistive technology is active, so that nothing is built for it.
AccessibleLinkCanvas* linkInterfaceOf(LinkCanvas* canvas) {
  if (!QAccessible::isActive()) return nullptr;
  return dynamic_cast<AccessibleLinkCanvas*>(QAccessible::queryAccessibleInterface(canvas));
}

}  // namespace

void installAccessibleLinkCanvas() {
  static const bool installed = (QAccessible::installFactory(makeLinkInterface), true);
  Q_UNUSED(installed)
}

void resetAccessibleLinks(LinkCanvas* canvas) {
  if (AccessibleLinkCanvas* table = linkInterfaceOf(canvas)) {
    table->forget();
    QAccessibleEvent event(canvas, QAccessible::ObjectReorder);
    QAccessible::updateAccessibility(&event);
  }
}

void notifyAccessibleLink(LinkCanvas* canvas, LinkCanvas::Cell cell) {
  AccessibleLinkCanvas* table = linkInterfaceOf(canvas);
  if (!table || !canvas->hasFocus()) return;
  QAccessibleEvent event(table->childOf(cell), QAccessible::Focus);
  QAccessible::updateAccessibility(&event);
}

}  // namespace tessera::ui
