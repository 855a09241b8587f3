// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// What is said of one time in the plots: a box of words and a dot on either line.

#include <QPainter>
#include <QString>

#include "ui/plots/plot_geometry.h"
#include "ui/plots/sample_series.h"

namespace tessera::ui {

/// Where a box with `text` stands: beside the pixel `at`, at `top` or as near as it fits.
QRectF readoutBox(const PlotGeometry& geometry, const QString& text, double at, double top);

void drawReadout(QPainter& painter, const QRectF& box, const QString& text);

/// On both lines; none for a value that is not a number.
void drawDots(QPainter& painter, const PlotGeometry& geometry, const SampleSeries::Point& point);

}  // namespace tessera::ui
