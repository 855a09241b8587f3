// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/pane_focus.h"

#include <QApplication>
#include <QWidget>

namespace tessera::ui {

void focusNextPane(QList<QWidget*> panes, int direction) {
  panes.removeIf([](const QWidget* pane) {
    return pane == nullptr || !pane->isVisible() || !pane->isEnabled();
  });
  if (panes.isEmpty()) return;
  const QWidget* focus = QApplication::focusWidget();
  qsizetype at = direction > 0 ? -1 : 0;
  for (qsizetype i = 0; i < panes.size(); ++i) {
    if (focus != nullptr && (panes[i] == focus || panes[i]->isAncestorOf(focus))) at = i;
  }
  panes[(at + direction + panes.size()) % panes.size()]->setFocus(Qt::TabFocusReason);
}

}  // namespace tessera::ui
