// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// Plots as the bytes of picture files.

#include <QByteArray>
#include <QSize>
#include <functional>

class QCustomPlot;
class QPaintDevice;
class QPixmap;
class QWidget;

namespace tessera::ui {

QByteArray pngOf(const QPixmap& picture);
/// An SVG of that size on which `draw` draws; its title and description are those of `named`.
QByteArray svgOf(const QWidget& named, QSize size, const std::function<void(QPaintDevice*)>& draw);
/// Draws lines and words as such, not as pixels.
void drawVectors(QCustomPlot& plot, QPaintDevice* device, QSize size);

}  // namespace tessera::ui
