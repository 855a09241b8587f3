// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/plot_picture.h"

#include <qcustomplot.h>

#include <QBuffer>
#include <QPixmap>
#include <QWidget>

#include "ui/picture/svg_device.h"

namespace tessera::ui {

QByteArray pngOf(const QPixmap& picture) {
  QByteArray bytes;
  QBuffer buffer(&bytes);
  buffer.open(QIODevice::WriteOnly);
  picture.save(&buffer, "PNG");
  return bytes;
}

QByteArray svgOf(const QWidget& named, QSize size, const std::function<void(QPaintDevice*)>& draw) {
  SvgDevice file(size, size.width(), named.accessibleName(), named.accessibleDescription());
  draw(&file);
  return file.bytes();
}

void drawVectors(QCustomPlot& plot, QPaintDevice* device, QSize size) {
  QCPPainter painter;
  painter.begin(device);
  painter.setMode(QCPPainter::pmVectorized);
  painter.setMode(QCPPainter::pmNoCaching);
  plot.toPainter(&painter, size.width(), size.height());
  painter.end();
}

}  // namespace tessera::ui
