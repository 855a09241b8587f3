// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// How a shard is coloured, from the colours of the devices that hold it.

#include <vector>

#include "ui/canvas/device_looks.h"

class QPainter;
class QRectF;

namespace tessera::ui {

/// The look of the holders if they all have the same, so that a shard looks like its GPUs in the
/// mesh; else grey: the shard is the same on GPUs of different colours.
DeviceLook lookOfShard(const DeviceLooks& looks, const std::vector<ptc::DeviceId>& holders);
/// The same hue with another pattern for each part of a shard that is split.
DeviceLook lookOfPart(DeviceLook look, int part);
/// Fills a box. \param strength 0 to 1; below 1 it fades into the canvas
void paintShard(QPainter& painter, const QRectF& rect, const DeviceLook& look, double strength);
/// The colour that paintShard fills with.
QColor fillOfShard(const DeviceLook& look, double strength);
/// How strong shards are that are not under the pointer while others are.
inline constexpr double kFadedShard = 0.3;

}  // namespace tessera::ui
