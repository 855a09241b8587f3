// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/dock_sizes.h"

#include <QDockWidget>
#include <QEvent>
#include <QMainWindow>
#include <QTimer>
#include <utility>

namespace tessera::ui {
namespace {

constexpr int kNavigatorWidth = 216, kSideWidth = 332;
constexpr int kReviewPercent = 45;

}  // namespace

DockSizes::DockSizes(QMainWindow& window, Docks docks, const QList<QWidget*>& cards)
    : m_window(window), m_docks(docks) {
  window.resizeDocks({docks.navigator, docks.side}, {kNavigatorWidth, kSideWidth}, Qt::Horizontal);
  window.resizeDocks({docks.records}, {kHeight}, Qt::Vertical);
  window.installEventFilter(this);
  docks.records->installEventFilter(this);
  for (QWidget* card : cards) card->installEventFilter(this);
}

void DockSizes::keepInitialState() { m_initialState = m_window.saveState(); }

int DockSizes::wantedHeight() const {
  if (m_userHeight) return *m_userHeight;
  if (m_reviews) return m_window.height() * kReviewPercent / 100;
  // In a low window the canvas gets the height.
  return m_window.height() < kLowWindow ? kLowHeight : kHeight;
}

void DockSizes::arrange(Arrangement arrangement) {
  const bool teach = arrangement == Arrangement::Teach;
  m_reviews = arrangement == Arrangement::Review;
  m_window.restoreState(m_initialState);
  m_docks.navigator->setVisible(!teach && !m_reviews);
  m_docks.side->setVisible(true);
  m_docks.records->setVisible(!teach);
  m_userHeight.reset();
  m_adopts = false;
  m_window.resizeDocks({m_docks.navigator, m_docks.side}, {kNavigatorWidth, kSideWidth},
                       Qt::Horizontal);
  m_window.resizeDocks({m_docks.records}, {wantedHeight()}, Qt::Vertical);
}

void DockSizes::fit() {
  if (!m_docks.records->isVisible()) return;
  const int height = m_docks.records->height();
  if (std::exchange(m_adopts, false) && height > kLowHeight && height != kHeight) {
    m_userHeight = height;
  }
  if (height != wantedHeight()) {
    m_window.resizeDocks({m_docks.records}, {wantedHeight()}, Qt::Vertical);
  }
}

// The window itself gets the presses on the edges of its docks.
bool DockSizes::eventFilter(QObject* watched, QEvent* event) {
  const auto later = [this](auto react) { QTimer::singleShot(0, this, react); };
  const bool isWindow = watched == &m_window;
  const bool isDock = watched == m_docks.records;
  switch (event->type()) {
    case QEvent::MouseButtonPress:
      if (isWindow) m_pressedHeight = m_docks.records->height();
      break;
    case QEvent::MouseButtonRelease:
      if (!isWindow || !m_pressedHeight) break;
      later([this, before = *std::exchange(m_pressedHeight, std::nullopt)] {
        if (m_docks.records->height() != before) keepHeight(m_docks.records->height());
      });
      break;
    case QEvent::Show:
      if (isDock) later([this] { fit(); });
      break;
    case QEvent::Hide:
      if (!isWindow && !isDock) later([this] { fit(); });  // a card; the layout follows first
      break;
    default:
      break;
  }
  return QObject::eventFilter(watched, event);
}

}  // namespace tessera::ui
