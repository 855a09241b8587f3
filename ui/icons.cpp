// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/icons.h"

#include <QFile>
#include <QPainter>
#include <QSvgRenderer>

// Q_INIT_RESOURCE must be outside of namespaces. Without it the linker drops the resources of a
// static library.
static void loadResources() { Q_INIT_RESOURCE(app); }

namespace tessera::ui {

QPixmap iconPixmap(const QString& name, const QColor& color, int size, qreal devicePixelRatio) {
  loadResources();
  QFile file(QStringLiteral(":/tessera/icons/%1.svg").arg(name));
  if (!file.open(QIODevice::ReadOnly)) return {};
  QByteArray svg = file.readAll();
  svg.replace("currentColor", color.name().toLatin1());
  QSvgRenderer renderer(svg);
  QPixmap pixmap(QSize(size, size) * devicePixelRatio);
  pixmap.setDevicePixelRatio(devicePixelRatio);
  pixmap.fill(Qt::transparent);
  QPainter painter(&pixmap);
  renderer.render(&painter, QRectF(0, 0, size, size));
  return pixmap;
}

QIcon icon(const QString& name, const QColor& color) {
  QIcon result;
  for (const qreal ratio : {1.0, 2.0}) {
    const QPixmap pixmap = iconPixmap(name, color, 16, ratio);
    if (!pixmap.isNull()) result.addPixmap(pixmap);
  }
  return result;
}

}  // namespace tessera::ui
