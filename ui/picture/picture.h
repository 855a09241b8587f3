// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// Parts of the window as picture files, without frames, tabs and buttons around them.

#include <QByteArray>
#include <QSize>
#include <QString>
#include <functional>
#include <vector>

#include "ui/canvas/mesh_scene.h"

class QImage;
class QPaintDevice;
class QWidget;

namespace tessera::ui {

struct Picture {
  QString title;        // for users: "Mesh"
  QString name;         // of the file: "mesh"
  QString description;  // for readers that do not see it
  QSize size;           // logical pixels
  /// Begins and ends a painter of its own, with coordinates in logical pixels.
  std::function<void(QPaintDevice&)> draw;
};

/// The widget as it is now. It must outlive the picture.
Picture pictureOf(const QString& title, const QString& name, QWidget* widget);
/// The picture with the legend of its colours below it, in as many rows as it needs.
Picture withLegend(Picture picture, const std::vector<MeshScene::LegendEntry>& entries,
                   bool isQuantity);

/// The height of a picture of this width.
int heightOf(const Picture& picture, int width);
/// The picture as pixels. \param width of them
QImage imageOf(const Picture& picture, int width);
/// The image as a PNG file. Any thread: it takes a second for large ones.
QByteArray pngOf(const QImage& image);
/// As vectors, with the outlines of its texts. \param width pixels that viewers show it with
QByteArray svgOf(const Picture& picture, int width);

}  // namespace tessera::ui
