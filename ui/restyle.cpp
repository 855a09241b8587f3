// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/restyle.h"

#include <QApplication>
#include <QBasicTimer>
#include <QElapsedTimer>
#include <QEvent>
#include <QLabel>
#include <QList>
#include <QPointer>
#include <QSet>
#include <QStyle>
#include <QTimerEvent>
#include <QWidget>
#include <utility>

namespace tessera::ui {
namespace {

constexpr qint64 kSliceMs = 5;
constexpr int kPauseMs = 10;

void polish(QWidget& widget) {
  widget.style()->polish(&widget);
  QEvent event(QEvent::StyleChange);
  QCoreApplication::sendEvent(&widget, &event);
  // A link keeps the colour that it had when the text was set.
  auto* label = qobject_cast<QLabel*>(&widget);
  if (label == nullptr || !label->text().contains(QLatin1String("<a "))) return;
  const QString text = label->text();
  label->clear();
  label->setText(text);
}

/// Polishes all widgets again in pieces of work with events between them: the visible widgets, the
/// picture of their windows, hidden widgets a few at a time. Parents come before their children, as
/// these inherit font and palette.
class Polisher : public QObject {
 public:
  explicit Polisher(QApplication& application) : QObject(&application) {}

  void polishAll() {
    m_waiting.clear();
    m_queue.clear();
    QList<QPointer<QWidget>> visible;
    for (QWidget* window : QApplication::topLevelWidgets()) {
      if (window->parentWidget() == nullptr) collect(*window, visible);
      if (!window->isVisible() || !window->updatesEnabled()) continue;
      window->setUpdatesEnabled(false);
      m_unpainted << window;
    }
    for (const auto& widget : visible) {
      if (widget) polish(*widget);
    }
    m_timer.start(0, this);
    qApp->installEventFilter(this);
  }

  bool eventFilter(QObject* watched, QEvent* event) override {
    if (event->type() == QEvent::Show && watched->isWidgetType()) {
      polishIfWaiting(static_cast<QWidget*>(watched));
    }
    return false;
  }

 protected:
  void timerEvent(QTimerEvent*) override {
    if (!m_unpainted.isEmpty()) {
      for (const auto& window : std::exchange(m_unpainted, {})) {
        if (window) window->setUpdatesEnabled(true);
      }
      m_timer.start(kPauseMs, this);
      return;
    }
    QElapsedTimer clock;
    clock.start();
    while (!m_queue.isEmpty() && clock.elapsed() < kSliceMs) polishIfWaiting(m_queue.takeFirst());
    if (!m_queue.isEmpty()) return;
    m_timer.stop();
    qApp->removeEventFilter(this);
  }

 private:
  void collect(QWidget& widget, QList<QPointer<QWidget>>& visible) {
    // Others are polished when they are shown first.
    if (widget.testAttribute(Qt::WA_WState_Polished)) {
      if (widget.isVisible()) {
        visible << &widget;
      } else {
        m_waiting << &widget;
        m_queue << &widget;
      }
    }
    for (QObject* child : widget.children()) {
      if (child->isWidgetType()) collect(*static_cast<QWidget*>(child), visible);
    }
  }

  void polishIfWaiting(QWidget* widget) {
    if (widget == nullptr) return;
    polishIfWaiting(widget->parentWidget());  // children are shown before their parents
    if (m_waiting.remove(widget)) polish(*widget);
  }

  QSet<const QWidget*> m_waiting;    // may contain deleted ones
  QList<QPointer<QWidget>> m_queue;  // with those that were shown meanwhile
  QList<QPointer<QWidget>> m_unpainted;
  QBasicTimer m_timer;
};

}  // namespace

void restyle(QApplication& application, const QString& sheet) {
  if (application.styleSheet().isEmpty()) {
    application.setStyleSheet(sheet);
    return;
  }
  // QApplication::setStyleSheet polishes every widget whose rules the style remembers, and that
  // once for each of its ancestors: 5,500 times for the 800 widgets of the panel. A style that has
  // forgotten the application remembers none.
  QStyle& style = *application.style();
  style.unpolish(&application);
  application.setStyleSheet(sheet);
  style.polish(&application);
  static QPointer<Polisher> polisher;
  if (!polisher) polisher = new Polisher(application);
  polisher->polishAll();
}

}  // namespace tessera::ui
