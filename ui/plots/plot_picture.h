// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// Plots as picture files in memory.

#include <QByteArray>
#include <QSize>
#include <functional>

class QCustomPlot;
class QPaintDevice;
class QPixmap;
class QWidget;

namespace tessera::ui {

QByteArray pngOf(const QPixmap& picture);
/// Returns an SVG of this size drawn by `draw`, with the accessible name and description of
/// `named`.
QByteArray svgOf(const QWidget& named, QSize size, const std::function<void(QPaintDevice*)>& draw);
/// Draws the plot with lines and text, not as pixels.
void drawVectors(QCustomPlot& plot, QPaintDevice* device, QSize size);

}  // namespace tessera::ui
