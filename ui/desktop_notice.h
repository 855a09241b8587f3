// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// Notices of the desktop: for a user who looks at another window.

#include <QString>

class QWidget;

namespace tessera::ui {

struct DesktopNotice {
  QString title;
  QString text;
  bool isUrgent = false;  // a decision is needed, or something failed
  friend bool operator==(const DesktopNotice&, const DesktopNotice&) = default;
};

/// Shows the notice by the desktop's service org.freedesktop.Notifications, and asks for attention
/// to `window` in the task bar. Returns at once; without the service only the task bar shows it.
void notifyDesktop(QWidget* window, const DesktopNotice& notice);

}  // namespace tessera::ui
