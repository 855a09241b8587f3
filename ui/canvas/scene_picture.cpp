// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/canvas/scene_picture.h"

#include <QBuffer>
#include <QImage>
#include <QPainter>

#include "ui/canvas/mesh_layout.h"
#include "ui/canvas/scene_painter.h"
#include "ui/theme.h"

namespace tessera::ui {

QByteArray scenePicture(const MeshScene& scene, QSize size) {
  constexpr int kSharpness = 2;
  const MeshLayout layout(scene, size, 1.0, false);
  const QRect whole(QPoint(0, 0), layout.contentSize().boundedTo(size));
  QImage image(whole.size() * kSharpness, QImage::Format_ARGB32_Premultiplied);
  image.setDevicePixelRatio(kSharpness);
  image.fill(Theme::light().canvas);
  QPainter painter(&image);
  painter.setRenderHint(QPainter::Antialiasing);
  ScenePainter(scene, layout, Theme::light(), false).paintAll(painter, whole);
  painter.end();
  QByteArray bytes;
  QBuffer buffer(&bytes);
  buffer.open(QIODevice::WriteOnly);
  image.save(&buffer, "PNG");
  return bytes;
}

}  // namespace tessera::ui
