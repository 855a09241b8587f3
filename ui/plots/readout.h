// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The readout of one time in the plots: a text box and a dot on each line.

#include <QPainter>
#include <QString>

#include "ui/plots/drawn_samples.h"
#include "ui/plots/plot_geometry.h"

namespace tessera::ui {

/// Returns the position of a box with `text`: beside the pixel `at`, at `top` or as near as it
/// fits, and not wider than the plots.
QRectF readoutBox(const PlotGeometry& geometry, const QString& text, double at, double top);

/// A text that is too long for its box ends with an ellipsis.
void drawReadout(QPainter& painter, const QRectF& box, const QString& text);

/// Draws a dot on each line; none for a value that is not a number.
void drawDots(QPainter& painter, const PlotGeometry& geometry, const DrawnSamples& samples,
              const SampleSeries::Point& point);

}  // namespace tessera::ui
