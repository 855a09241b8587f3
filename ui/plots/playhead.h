// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The playhead: the line at the time that is looked at, and where it is taken and stops.

#include <QPainter>
#include <optional>
#include <vector>

#include "ui/plots/bands.h"
#include "ui/plots/plot_geometry.h"

namespace tessera::ui {

/// Whether a drag from there moves the playhead: beside its line, or anywhere in the strip of
/// times.
bool grabsPlayhead(const PlotGeometry& geometry, std::optional<double> playhead, QPointF position);

/// Times of bands and events within `samples`, ascending: where keys take the playhead.
std::vector<double> playheadStops(const std::vector<PlotBand>& bands,
                                  const std::vector<PlotMark>& marks, const PlotRange& samples);

/// Its line, with a handle in the strip of times. \pre `time` is in sight
void drawPlayhead(QPainter& painter, const PlotGeometry& geometry, double time);

}  // namespace tessera::ui
