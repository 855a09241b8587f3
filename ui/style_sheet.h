// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The style sheet that gives standard widgets the panel's look.

#include <QString>

namespace tessera::ui {
struct Theme;

/// A Qt style sheet in the colours of `theme`, for QApplication::setStyleSheet.
QString styleSheet(const Theme& theme);

}  // namespace tessera::ui
