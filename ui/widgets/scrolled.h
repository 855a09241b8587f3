// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// Pages that may be higher than their place.

class QScrollArea;
class QWidget;

namespace tessera::ui {

/// `content`, which becomes the area's own, as wide as the place that it gets, with a scroll bar
/// where it is higher: it asks its parent for no height, and so never pushes other panes away.
QScrollArea* scrolled(QWidget* content, QWidget* parent);

}  // namespace tessera::ui
