// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// How the mesh paints each device, for views that show devices elsewhere.

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

/// Of the devices that have a piece in the scene, in the colours of its colouring.
DeviceLooks looksOf(const MeshScene& scene);

}  // namespace tessera::ui
