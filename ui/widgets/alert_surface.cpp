// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widgets/alert_surface.h"

#include <QAccessible>
#include <QAccessibleWidget>
#include <QApplication>

namespace tessera::ui {
namespace {

QAccessibleInterface* makeAlertInterface(const QString& className, QObject* object) {
  if (className != QLatin1String(AlertSurface::staticMetaObject.className())) return nullptr;
  auto* alert = qobject_cast<AlertSurface*>(object);
  return alert ? new QAccessibleWidget(alert, QAccessible::AlertMessage) : nullptr;
}

}  // namespace

void announce(QWidget* widget, const QString& text) {
  widget->setAccessibleName(text);
  alertSender()(widget);
}

std::function<void(QWidget*)>& alertSender() {
  static std::function<void(QWidget*)> sender = [](QWidget* widget) {
    QAccessibleEvent alert(widget, QAccessible::Alert);
    QAccessible::updateAccessibility(&alert);
  };
  return sender;
}

AlertSurface::AlertSurface(Tone tone, QWidget* parent) : Surface(tone, parent) {
  static const bool isInstalled = (QAccessible::installFactory(makeAlertInterface), true);
  Q_UNUSED(isInstalled)
  connect(qApp, &QApplication::focusChanged, this, [this](QWidget* old, QWidget* now) {
    const auto isInside = [this](const QWidget* each) { return each && isAncestorOf(each); };
    if (old != nullptr && isInside(now) && !isInside(old)) m_focusBefore = old;
  });
}

void AlertSurface::showPart(QWidget* part, bool on) {
  if (!on) giveFocusBack(part);
  part->setVisible(on);
}

// Qt would give the focus to whatever comes next in the order of Tab.
void AlertSurface::hideEvent(QHideEvent* event) {
  giveFocusBack(this);
  Surface::hideEvent(event);
}

void AlertSurface::giveFocusBack(const QWidget* gone) {
  QWidget* focused = QApplication::focusWidget();
  if (focused == nullptr || (focused != gone && !gone->isAncestorOf(focused))) return;
  if (m_focusBefore) {
    m_focusBefore->setFocus(Qt::OtherFocusReason);
  } else {
    focused->clearFocus();
  }
}

}  // namespace tessera::ui
