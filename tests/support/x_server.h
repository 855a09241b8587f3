// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// An X server without a screen (Xvfb), a window manager, without which windows never become active
/// and shortcuts do not fire, and a mouse and a keyboard (xdotool).

#include <QPoint>
#include <QProcess>
#include <QString>
#include <QStringList>
#include <nlohmann/json_fwd.hpp>

namespace tessera::test {

class XServer {
 public:
  /// Starts Xvfb on a free display, and openbox on it.
  XServer();
  ~XServer();
  XServer(const XServer&) = delete;
  XServer& operator=(const XServer&) = delete;

  /// Why the server does not run: a program that is missing or did not start. Empty: it runs.
  const QString& missing() const { return missing_; }
  /// `environment` with DISPLAY and the xcb platform of Qt.
  QStringList Environment(QStringList environment) const;

  /// \param rect [x, y, width, height], as `tessera --print-geometry` prints it
  static QPoint MiddleOf(const nlohmann::json& rect);

  /// Presses the left button at `from`, moves in small steps to `to`, releases it. Screen
  /// coordinates.
  /// \return whether all calls of xdotool succeeded
  bool Drag(QPoint from, QPoint to) const;
  bool Click(QPoint at) const;
  /// Presses keys in the active window: "alt+3", "Return".
  bool Key(const QString& keys) const;
  /// Types a text there.
  bool Type(const QString& text) const;

 private:
  bool Tool(const QStringList& words) const;
  static QPoint Between(QPoint from, QPoint to, double part);

  QProcess server_, manager_;
  QString display_;
  QString missing_;
};

}  // namespace tessera::test
