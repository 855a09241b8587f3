// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The list of the views.

#include <vector>

#include "ui/views/view.h"

namespace tessera::ui {

/// Makes every view, in the order of the tabs. `parent` owns their widgets.
std::vector<View*> makeViews(const ViewContext& context, QWidget* parent);

}  // namespace tessera::ui
