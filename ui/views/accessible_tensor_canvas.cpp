// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/accessible_tensor_canvas.h"

#include <QAccessible>
#include <QAccessibleActionInterface>
#include <QAccessibleInterface>
#include <QAccessibleWidget>
#include <QWindow>
#include <map>

namespace tessera::ui {
namespace {

int shardsBefore(const TensorCanvas& canvas) {
  return static_cast<int>(canvas.picture().before.size());
}
int shardsShown(const TensorCanvas& canvas) {
  const int after = canvas.isComparing() ? static_cast<int>(canvas.picture().after.size()) : 0;
  return shardsBefore(canvas) + after;
}

/// \pre 0 <= index < shardsShown(canvas)
TensorCanvas::At shardAtIndex(const TensorCanvas& canvas, int index) {
  const int before = shardsBefore(canvas);
  return index < before ? TensorCanvas::At{false, static_cast<std::size_t>(index)}
                        : TensorCanvas::At{true, static_cast<std::size_t>(index - before)};
}
int indexOfShard(const TensorCanvas& canvas, TensorCanvas::At at) {
  return static_cast<int>(at.shard) + (at.after ? shardsBefore(canvas) : 0);
}

class AccessibleShard : public QAccessibleInterface, public QAccessibleActionInterface {
 public:
  AccessibleShard(TensorCanvas* canvas, int index) : m_canvas(canvas), m_index(index) {}

  int index() const { return m_index; }

  bool isValid() const override { return m_index < shardsShown(*m_canvas); }
  QObject* object() const override { return nullptr; }
  QWindow* window() const override { return m_canvas->window()->windowHandle(); }
  QAccessibleInterface* parent() const override {
    return QAccessible::queryAccessibleInterface(m_canvas);
  }
  QAccessibleInterface* child(int) const override { return nullptr; }
  QAccessibleInterface* childAt(int, int) const override { return nullptr; }
  int childCount() const override { return 0; }
  int indexOfChild(const QAccessibleInterface*) const override { return -1; }
  QAccessible::Role role() const override { return QAccessible::ListItem; }

  QString text(QAccessible::Text kind) const override {
    if (!isValid() || kind != QAccessible::Name) return {};
    return m_canvas->describe(shardAtIndex(*m_canvas, m_index));
  }
  void setText(QAccessible::Text, const QString&) override {}
  QRect rect() const override {
    if (!isValid()) return {};
    // A shard of several boxes is where its first one is.
    const auto rects = m_canvas->rectsOf(shardAtIndex(*m_canvas, m_index));
    if (rects.empty()) return {};
    const QRect inside = rects.front().toAlignedRect();
    return {m_canvas->mapToGlobal(inside.topLeft()), inside.size()};
  }
  QAccessible::State state() const override {
    QAccessible::State state;
    state.selectable = state.focusable = true;
    if (!isValid()) return state;
    const bool isCurrent = m_canvas->current() == shardAtIndex(*m_canvas, m_index);
    state.selected = isCurrent;
    state.focused = isCurrent && m_canvas->hasFocus();
    return state;
  }

  void* interface_cast(QAccessible::InterfaceType type) override {
    return type == QAccessible::ActionInterface ? static_cast<QAccessibleActionInterface*>(this)
                                                : nullptr;
  }
  QStringList actionNames() const override { return {pressAction()}; }
  void doAction(const QString& name) override {
    if (name == pressAction() && isValid()) m_canvas->choose(shardAtIndex(*m_canvas, m_index));
  }
  QStringList keyBindingsForAction(const QString&) const override { return {}; }

 private:
  TensorCanvas* m_canvas;
  int m_index;
};

class AccessibleTensorCanvas : public QAccessibleWidget {
 public:
  explicit AccessibleTensorCanvas(TensorCanvas* canvas)
      : QAccessibleWidget(canvas, QAccessible::List) {}
  ~AccessibleTensorCanvas() override { forget(); }

  int childCount() const override { return shardsShown(*canvas()); }
  QAccessibleInterface* child(int index) const override {
    if (index < 0 || index >= childCount()) return nullptr;
    const auto [it, isNew] = m_children.try_emplace(index, 0U);
    if (isNew) {
      it->second = QAccessible::registerAccessibleInterface(new AccessibleShard(canvas(), index));
    }
    return QAccessible::accessibleInterface(it->second);
  }
  QAccessibleInterface* childAt(int x, int y) const override {
    const auto at = canvas()->shardAt(canvas()->mapFromGlobal(QPointF(x, y)));
    return at ? child(indexOfShard(*canvas(), *at)) : nullptr;
  }
  int indexOfChild(const QAccessibleInterface* child) const override {
    const auto* shard = dynamic_cast<const AccessibleShard*>(child);
    return shard == nullptr ? -1 : shard->index();
  }
  QAccessibleInterface* focusChild() const override {
    const auto current = canvas()->current();
    return canvas()->hasFocus() && current ? child(indexOfShard(*canvas(), *current)) : nullptr;
  }

  void forget() {
    for (const auto& [index, id] : m_children) QAccessible::deleteAccessibleInterface(id);
    m_children.clear();
  }

 private:
  TensorCanvas* canvas() const { return static_cast<TensorCanvas*>(widget()); }
  mutable std::map<int, QAccessible::Id> m_children;
};

QAccessibleInterface* makeTensorInterface(const QString& className, QObject* object) {
  if (className != QLatin1String(TensorCanvas::staticMetaObject.className())) return nullptr;
  auto* canvas = qobject_cast<TensorCanvas*>(object);
  return canvas ? new AccessibleTensorCanvas(canvas) : nullptr;
}

// Null while no assistive technology is active, so that nothing is built for it.
AccessibleTensorCanvas* tensorInterfaceOf(TensorCanvas* canvas) {
  if (!QAccessible::isActive()) return nullptr;
  return dynamic_cast<AccessibleTensorCanvas*>(QAccessible::queryAccessibleInterface(canvas));
}

}  // namespace

void installAccessibleTensorCanvas() {
  static const bool installed = (QAccessible::installFactory(makeTensorInterface), true);
  Q_UNUSED(installed)
}

void resetAccessibleShards(TensorCanvas* canvas) {
  if (AccessibleTensorCanvas* list = tensorInterfaceOf(canvas)) {
    list->forget();
    QAccessibleEvent event(canvas, QAccessible::ObjectReorder);
    QAccessible::updateAccessibility(&event);
  }
}

void notifyAccessibleShard(TensorCanvas* canvas, TensorCanvas::At at) {
  AccessibleTensorCanvas* list = tensorInterfaceOf(canvas);
  if (!list || !canvas->hasFocus()) return;
  QAccessibleEvent event(list->child(indexOfShard(*canvas, at)), QAccessible::Focus);
  QAccessible::updateAccessibility(&event);
}

}  // namespace tessera::ui
