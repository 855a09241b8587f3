// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The colour and pattern of each device in the mesh, for other views that show devices.

#include <QColor>
#include <map>

#include "ptc/mesh.h"
#include "ui/canvas/mesh_scene.h"
#include "ui/theme.h"

namespace tessera::ui {

struct DeviceLook {
  QColor color;
  Pattern pattern = Pattern::Solid;
  friend bool operator==(const DeviceLook&, const DeviceLook&) = default;
};
using DeviceLooks = std::map<ptc::DeviceId, DeviceLook>;

/// Returns the looks of all devices that have a piece in the scene, by the scene's colouring.
DeviceLooks looksOf(const MeshScene& scene);

}  // namespace tessera::ui
