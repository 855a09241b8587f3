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
class QResizeEvent;

namespace tessera::ui {

/// The lower dock is low in a low window, until the window or the user has resized it. The cards
/// below the views may take height from it; it gets that back.
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
  /// A stored layout was restored: its height is the user's.
  void adoptHeight() { m_height.reset(); }
  void arrange(Arrangement arrangement);
  /// Follows the height of the window.
  void fit();

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void resizeRecords(int height);
  void watch(const QResizeEvent& event);
  void restore();

  QMainWindow& m_window;
  Docks m_docks;
  QList<QWidget*> m_cards;
  QByteArray m_initialState;
  std::optional<int> m_height = kHeight;  // as last set here; nothing: by the user
  std::optional<int> m_squeezedFrom;      // the height before cards took some
};

}  // namespace tessera::ui
