// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// Another style sheet for widgets that are shown already. GUI thread only.

#include <QString>

class QApplication;

namespace tessera::ui {

/// Replaces the style sheet of an application. Visible widgets have it on return. Hidden ones get
/// it by the event loop, a few at a time, or when they are shown.
void restyle(QApplication& application, const QString& sheet);

}  // namespace tessera::ui
