// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// How reconfigurations stand in the plots: a faint tint for the change, the whole tint for its
/// pause, hatched where it was undone, the pause in words above.

#include <QPainter>
#include <optional>
#include <vector>

#include "ui/plots/bands.h"
#include "ui/plots/plot_geometry.h"

namespace tessera::ui {

/// The band at that place or within 3 pixels, the latest of several; null where there is none.
const PlotBand* bandAt(const std::vector<PlotBand>& bands, const PlotGeometry& geometry,
                       QPointF position);

/// A label that would overlap the one before it is left out.
void drawBands(QPainter& painter, const PlotGeometry& geometry, const std::vector<PlotBand>& bands,
               std::optional<std::int64_t> selected);

}  // namespace tessera::ui
