// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// Scrollable pages.

class QScrollArea;
class QWidget;

namespace tessera::ui {

/// Returns an area that owns `content`, gives it its own width, and scrolls vertically if needed.
/// The area requires no minimum height, so that it never displaces other panes.
QScrollArea* scrolled(QWidget* content, QWidget* parent);

}  // namespace tessera::ui
