// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// Paints changes as bands in the plots: a faint tint for the change, the full tint for its pause,
/// hatched if it was undone, with the length of the pause above.

#include <QPainter>
#include <optional>
#include <vector>

#include "ui/plots/bands.h"
#include "ui/plots/plot_geometry.h"

namespace tessera::ui {

/// Returns the band within 3 pixels of the position, the latest of several; null if there is none.
const PlotBand* bandAt(const std::vector<PlotBand>& bands, const PlotGeometry& geometry,
                       QPointF position);

/// A label that would overlap the previous one is omitted.
void drawBands(QPainter& painter, const PlotGeometry& geometry, const std::vector<PlotBand>& bands,
               std::optional<std::int64_t> selected);

}  // namespace tessera::ui
