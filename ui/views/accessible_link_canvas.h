// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// Presents LinkCanvas to assistive technology as a table with one named child per cell, row by
/// row.

#include "ui/views/link_canvas.h"

namespace tessera::ui {

/// Registers the accessible interface of LinkCanvas with Qt. Repeated calls are cheap.
void installAccessibleLinkCanvas();
/// Call this after rows were added, removed or reordered.
void resetAccessibleLinks(LinkCanvas* canvas);
void notifyAccessibleLink(LinkCanvas* canvas, LinkCanvas::Cell cell);

}  // namespace tessera::ui
