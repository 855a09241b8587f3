// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/picture/picture.h"

#include <QBuffer>
#include <QImage>
#include <QPainter>
#include <QWidget>
#include <cmath>
#include <memory>
#include <utility>

#include "ui/picture/svg_device.h"
#include "ui/theme.h"
#include "ui/widgets/legend.h"

namespace tessera::ui {
namespace {

constexpr int kLegendMargin = 12;
constexpr int kLegendRow = 22;

using LegendRows = std::vector<std::shared_ptr<Legend>>;

/// As many entries in each row as it shows.
LegendRows rowsOf(const std::vector<MeshScene::LegendEntry>& entries, bool isQuantity, int width) {
  LegendRows rows;
  for (std::size_t first = 0; first < entries.size();) {
    auto row = std::make_shared<Legend>();
    row->resize(width, kLegendRow);
    std::size_t end = entries.size();
    for (; end > first; --end) {
      row->setEntries({entries.begin() + static_cast<std::ptrdiff_t>(first),
                       entries.begin() + static_cast<std::ptrdiff_t>(end)},
                      isQuantity);
      const bool fits = !row->entryRect(static_cast<int>(end - first) - 1).isNull();
      if (isQuantity || fits || end == first + 1) break;
    }
    first = end;
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace

Picture pictureOf(const QString& title, const QString& name, QWidget* widget) {
  const auto draw = [widget](QPaintDevice& device) {
    QPainter painter(&device);
    widget->render(&painter, QPoint(), QRegion(),
                   QWidget::DrawWindowBackground | QWidget::DrawChildren);
  };
  return {title, name, widget->accessibleDescription(), widget->size(), draw};
}

Picture withLegend(Picture picture, const std::vector<MeshScene::LegendEntry>& entries,
                   bool isQuantity) {
  const LegendRows rows = rowsOf(entries, isQuantity, picture.size.width() - 2 * kLegendMargin);
  if (rows.empty()) return picture;
  const QSize above = picture.size;
  const int below = static_cast<int>(rows.size()) * kLegendRow + 2 * kLegendMargin;
  picture.size.rheight() += below;
  picture.draw = [rows, above, below, first = std::move(picture.draw)](QPaintDevice& device) {
    first(device);
    QPainter painter(&device);
    painter.fillRect(QRect(0, above.height(), above.width(), below), Theme::current().canvas);
    int y = above.height() + kLegendMargin;
    for (const auto& row : rows) {
      row->render(&painter, QPoint(kLegendMargin, y), QRegion(), QWidget::DrawChildren);
      y += kLegendRow;
    }
  };
  return picture;
}

int heightOf(const Picture& picture, int width) {
  return static_cast<int>(
      std::lround(static_cast<double>(width) * picture.size.height() / picture.size.width()));
}

QImage imageOf(const Picture& picture, int width) {
  QImage image(width, heightOf(picture, width), QImage::Format_ARGB32_Premultiplied);
  image.setDevicePixelRatio(static_cast<double>(width) / picture.size.width());
  image.fill(Theme::current().canvas);
  picture.draw(image);
  return image;
}

QByteArray pngOf(const QImage& image) {
  QByteArray bytes;
  QBuffer buffer(&bytes);
  buffer.open(QIODevice::WriteOnly);
  image.save(&buffer, "PNG");
  return bytes;
}

QByteArray svgOf(const Picture& picture, int width) {
  SvgDevice device(picture.size, width, picture.title, picture.description);
  picture.draw(device);
  return device.bytes();
}

}  // namespace tessera::ui
