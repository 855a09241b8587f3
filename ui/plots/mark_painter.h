// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// Events on the strip between both plots, each in the shape of its kind.

#include <QPainter>
#include <vector>

#include "ui/plots/bands.h"
#include "ui/plots/plot_geometry.h"

namespace tessera::ui {

/// The mark within 6 pixels of that place, the latest of several; null where there is none.
const PlotMark* markAt(const std::vector<PlotMark>& marks, const PlotGeometry& geometry,
                       QPointF position);

/// Dots that would lie on each other are one.
void drawMarks(QPainter& painter, const PlotGeometry& geometry, const std::vector<PlotMark>& marks);

}  // namespace tessera::ui
