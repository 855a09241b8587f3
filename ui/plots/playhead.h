// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The playhead: a line at the selected time, its grab area and its stops.

#include <QPainter>
#include <optional>
#include <vector>

#include "ui/plots/bands.h"
#include "ui/plots/plot_geometry.h"

namespace tessera::ui {

/// Returns whether a drag from this position moves the playhead: near its line, or anywhere in the
/// strip of times.
bool grabsPlayhead(const PlotGeometry& geometry, std::optional<double> playhead, QPointF position);

/// Returns the times of bands and events within `samples`, ascending; the keys step through them.
std::vector<double> playheadStops(const std::vector<PlotBand>& bands,
                                  const std::vector<PlotMark>& marks, const PlotRange& samples);

/// Draws the line, with a handle in the strip of times.
/// \pre `time` is visible
void drawPlayhead(QPainter& painter, const PlotGeometry& geometry, double time);

}  // namespace tessera::ui
