// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/desktop_notice.h"

#include <QApplication>
#include <QWidget>

#ifdef TESSERA_WITH_DBUS
#include <QDBusConnection>
#include <QDBusMessage>
#include <QDBusPendingCall>
#include <QVariantMap>
#endif

namespace tessera::ui {

void notifyDesktop(QWidget* window, const DesktopNotice& notice) {
  QApplication::alert(window);
#ifdef TESSERA_WITH_DBUS
  const QDBusConnection bus = QDBusConnection::sessionBus();
  if (!bus.isConnected()) return;
  const QString service = QStringLiteral("org.freedesktop.Notifications");
  QDBusMessage message = QDBusMessage::createMethodCall(
      service, QStringLiteral("/org/freedesktop/Notifications"), service, QStringLiteral("Notify"));
  constexpr uint kNew = 0;        // replaces no earlier notice
  constexpr int kUsualTime = -1;  // the desktop decides when it disappears
  constexpr uchar kNormal = 1, kCritical = 2;
  const QVariantMap hints{
      {QStringLiteral("urgency"), QVariant::fromValue(notice.isUrgent ? kCritical : kNormal)},
      {QStringLiteral("desktop-entry"), QStringLiteral("org.tessera.Tessera")}};
  message << QStringLiteral("Tessera") << kNew << QStringLiteral("tessera") << notice.title
          << notice.text.toHtmlEscaped() << QStringList() << hints << kUsualTime;
  bus.asyncCall(message);
#else
  (void)notice;
#endif
}

}  // namespace tessera::ui
