// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The order of F6.

#include <QList>

class QWidget;

namespace tessera::ui {

/// Moves the focus to the next pane that is visible and enabled, or with -1 to the one before.
/// \param panes in their order; null ones are left out
void focusNextPane(QList<QWidget*> panes, int direction);

}  // namespace tessera::ui
