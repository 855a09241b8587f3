// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/shard_looks.h"

#include <QPainter>

namespace tessera::ui {

DeviceLook lookOfShard(const DeviceLooks& looks, const std::vector<ptc::DeviceId>& holders) {
  const Theme& theme = Theme::current();
  const DeviceLook grey{blend(theme.dim, theme.canvas, 0.5)};
  const DeviceLook* first = nullptr;
  for (const ptc::DeviceId device : holders) {
    const auto look = looks.find(device);
    if (look == looks.end()) continue;
    if (first != nullptr && *first != look->second) return grey;
    first = &look->second;
  }
  return first == nullptr ? grey : *first;
}

DeviceLook lookOfPart(DeviceLook look, int part) {
  look.pattern = static_cast<Pattern>((static_cast<int>(look.pattern) + part) % kNumPatterns);
  return look;
}

QColor fillOfShard(const DeviceLook& look, double strength) {
  return blend(look.color, Theme::current().canvas, strength);
}

void paintShard(QPainter& painter, const QRectF& rect, const DeviceLook& look, double strength) {
  const QColor fill = fillOfShard(look, strength);
  painter.fillRect(rect, fill);
  if (rect.width() >= 9 && rect.height() >= 7) {
    paintPattern(painter, rect, look.pattern, fill, strength);
  }
}

}  // namespace tessera::ui
