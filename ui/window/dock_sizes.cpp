// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/dock_sizes.h"

#include <QDockWidget>
#include <QGuiApplication>
#include <QMainWindow>
#include <QResizeEvent>
#include <QTimer>
#include <algorithm>

namespace tessera::ui {
namespace {

constexpr int kNavigatorWidth = 216, kSideWidth = 332;

}  // namespace

DockSizes::DockSizes(QMainWindow& window, Docks docks, const QList<QWidget*>& cards)
    : m_window(window), m_docks(docks), m_cards(cards) {
  window.resizeDocks({docks.navigator, docks.side}, {kNavigatorWidth, kSideWidth}, Qt::Horizontal);
  resizeRecords(kHeight);
  docks.records->installEventFilter(this);
  for (QWidget* card : cards) card->installEventFilter(this);
}

void DockSizes::keepInitialState() { m_initialState = m_window.saveState(); }

void DockSizes::resizeRecords(int height) {
  m_window.resizeDocks({m_docks.records}, {height}, Qt::Vertical);
}

void DockSizes::arrange(Arrangement arrangement) {
  const bool teach = arrangement == Arrangement::Teach;
  const bool review = arrangement == Arrangement::Review;
  m_window.restoreState(m_initialState);
  m_docks.navigator->setVisible(!teach && !review);
  m_docks.side->setVisible(true);
  m_docks.records->setVisible(!teach);
  m_height = review ? std::nullopt : std::optional(kHeight);
  m_window.resizeDocks({m_docks.navigator, m_docks.side}, {kNavigatorWidth, kSideWidth},
                       Qt::Horizontal);
  resizeRecords(review ? m_window.height() * 45 / 100 : kHeight);
  m_squeezedFrom.reset();
}

void DockSizes::fit() {
  // In a low window the canvas gets the height, unless the user set that of the dock.
  const int wanted = m_window.height() < kLowWindow ? kLowHeight : kHeight;
  const int height = m_squeezedFrom.value_or(m_docks.records->height());
  if (wanted == m_height || height != m_height) return;
  m_height = wanted;
  if (m_squeezedFrom) m_squeezedFrom = wanted;
  resizeRecords(wanted);
}

void DockSizes::watch(const QResizeEvent& event) {
  const bool hasCard = std::ranges::any_of(m_cards, &QWidget::isVisible);
  const bool byUser = QGuiApplication::mouseButtons() != Qt::NoButton;
  if (!hasCard || byUser || m_squeezedFrom) return;
  if (event.size().height() < event.oldSize().height()) m_squeezedFrom = event.oldSize().height();
}

void DockSizes::restore() {
  if (!m_squeezedFrom) return;
  if (m_docks.records->height() < *m_squeezedFrom) resizeRecords(*m_squeezedFrom);
  m_squeezedFrom.reset();
}

bool DockSizes::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() == QEvent::Resize && watched == m_docks.records) {
    watch(*static_cast<QResizeEvent*>(event));
  } else if (event->type() == QEvent::Hide && watched != m_docks.records) {
    QTimer::singleShot(0, this, &DockSizes::restore);  // the layout follows first
  }
  return QObject::eventFilter(watched, event);
}

}  // namespace tessera::ui
