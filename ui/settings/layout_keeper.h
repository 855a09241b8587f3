// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// Stores window position, docks, table columns and splitters in the settings, and restores them.

#include <QList>
#include <QObject>
#include <QRect>
#include <QSize>

class QHeaderView;
class QMainWindow;

namespace tessera::ui {

class Settings;

/// Returns `wanted` moved and shrunk so that its title bar and at least `least` of it lie on one of
/// `screens`; centred on the first screen if it touches none. Unchanged if `screens` is empty.
QRect onScreen(QRect wanted, const QList<QRect>& screens, QSize least);

/// The size of a window for which none is stored: 1440 x 900, or what `available`, the screen
/// without its panels, has room for beside the frame of the window. At least `least`.
QSize usualSize(QSize available, QSize least);

/// Watches one window. Tables, trees and splitters are included if they have an object name.
class LayoutKeeper : public QObject {
  Q_OBJECT

 public:
  /// Both must outlive the keeper. Stored states of another `version` are ignored; increment it
  /// when docks change.
  LayoutKeeper(QMainWindow& window, Settings& settings, int version);

  /// Restores the stored layout. Call it once, when the window is complete.
  /// \return whether a window position was stored
  bool restore();
  /// Stores changes from now on.
  void watch();
  /// Stores the current layout.
  void capture();
  /// Deletes the stored layout and stores nothing until the next change.
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
