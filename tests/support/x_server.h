// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// An X server without a screen, with a window manager: without one windows never become active and
/// shortcuts do not fire. The mouse is xdotool's.

#include <QPoint>
#include <QProcess>
#include <QString>
#include <QStringList>

namespace tessera::test {

class XServer {
 public:
  /// Starts Xvfb on a free display, and openbox on it.
  XServer();
  ~XServer();
  XServer(const XServer&) = delete;
  XServer& operator=(const XServer&) = delete;

  /// Why there is none: a program that is not installed, or what it said. Empty: it runs.
  const QString& missing() const { return missing_; }
  /// `environment` with DISPLAY and the xcb platform of Qt.
  QStringList Environment(QStringList environment) const;

  /// Presses the left button at `from`, moves in small steps to `to`, lets go. Screen coordinates.
  /// \return whether every call of xdotool went well
  bool Drag(QPoint from, QPoint to) const;
  bool Click(QPoint at) const;

 private:
  bool Mouse(const QStringList& words) const;
  static QPoint Between(QPoint from, QPoint to, double part);

  QProcess server_, manager_;
  QString display_;
  QString missing_;
};

}  // namespace tessera::test
