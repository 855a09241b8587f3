// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// Paints events on the strip between both plots, with one shape per kind.

#include <QPainter>
#include <vector>

#include "ui/plots/bands.h"
#include "ui/plots/plot_geometry.h"

namespace tessera::ui {

/// Returns the mark within 6 pixels of the position, the latest of several; null if there is none.
const PlotMark* markAt(const std::vector<PlotMark>& marks, const PlotGeometry& geometry,
                       QPointF position);

/// Overlapping dots are drawn as one.
void drawMarks(QPainter& painter, const PlotGeometry& geometry, const std::vector<PlotMark>& marks);

}  // namespace tessera::ui
