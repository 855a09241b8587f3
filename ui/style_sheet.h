// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The style sheet of the standard widgets.

#include <QString>

namespace tessera::ui {
struct Theme;

/// Returns a Qt style sheet in the colours of `theme`, for QApplication::setStyleSheet.
QString styleSheet(const Theme& theme);

}  // namespace tessera::ui
