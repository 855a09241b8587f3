// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// Keeps the window's place, docks, table columns and splitters in the settings, and puts them
/// back.

#include <QList>
#include <QObject>
#include <QRect>
#include <QSize>

class QHeaderView;
class QMainWindow;

namespace tessera::ui {

class Settings;

/// `wanted` moved and shrunk so that its whole title bar and at least `least` of it lie on one of
/// `screens`; centred on the first where it touches none. Empty `screens` leave it as it is.
QRect onScreen(QRect wanted, const QList<QRect>& screens, QSize least);

/// Watches one window. Tables, trees and splitters take part where they have an object name.
class LayoutKeeper : public QObject {
  Q_OBJECT

 public:
  /// Both outlive the keeper. `version` changes when docks do: older states are then ignored.
  LayoutKeeper(QMainWindow& window, Settings& settings, int version);

  /// Puts back what the settings hold. Call once, when the window is complete. \return whether the
  /// window's own place was known
  bool restore();
  /// Takes changes from now on.
  void watch();
  /// Writes the present layout into the settings.
  void capture();
  /// Forgets it all, and does not take any until the next change.
  void forget();

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  QList<QHeaderView*> headers() const;
  void schedule();

  QMainWindow& m_window;
  Settings& m_settings;
  int m_version;
  bool m_watching = false;
  bool m_scheduled = false;
};

}  // namespace tessera::ui
