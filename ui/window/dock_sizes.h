// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The docks of the window: their arrangements, and the height of the lower one.

#include <QByteArray>
#include <QList>
#include <QObject>
#include <optional>

class QDockWidget;
class QMainWindow;

namespace tessera::ui {

/// The lower dock is low in a low window, unless the user has moved its edge. A small window, or
/// the cards below the views, may take height from it; it gets that back.
class DockSizes : public QObject {
 public:
  static constexpr int kHeight = 194;     // of the lower dock
  static constexpr int kLowHeight = 150;  // in windows lower than kLowWindow
  static constexpr int kLowWindow = 800;
  enum class Arrangement { Operate, Teach, Review };
  struct Docks {
    QDockWidget *navigator, *side, *records;
  };

  /// All arguments outlive it. The docks are in the window.
  DockSizes(QMainWindow& window, Docks docks, const QList<QWidget*>& cards);

  /// Call it when the window is complete, before a stored layout is restored.
  void keepInitialState();
  /// A stored layout was restored. Its height is the user's, unless it is one of those above or a
  /// lower one, which only a small window causes.
  void adoptHeight() { m_adopts = true; }
  /// The user has set this height.
  void keepHeight(int height) { m_userHeight = height; }
  void arrange(Arrangement arrangement);
  /// Gives the lower dock its height, as far as the window has room for it.
  void fit();

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  int wantedHeight() const;

  QMainWindow& m_window;
  Docks m_docks;
  QByteArray m_initialState;
  std::optional<int> m_userHeight, m_pressedHeight;  // the latter: when a mouse button was pressed
  bool m_reviews = false;                            // the lower dock has a share of the height
  bool m_adopts = false;
};

}  // namespace tessera::ui
