// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The readout of one time in the plots: a text box and a dot on each line.

#include <QPainter>
#include <QString>

#include "ui/plots/plot_geometry.h"
#include "ui/plots/sample_series.h"

namespace tessera::ui {

/// Returns the position of a box with `text`: beside the pixel `at`, at `top` or as near as it
/// fits.
QRectF readoutBox(const PlotGeometry& geometry, const QString& text, double at, double top);

void drawReadout(QPainter& painter, const QRectF& box, const QString& text);

/// Draws a dot on each line; none for a value that is not a number.
void drawDots(QPainter& painter, const PlotGeometry& geometry, const SampleSeries::Point& point);

}  // namespace tessera::ui
