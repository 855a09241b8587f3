// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// A scene of the mesh as a picture file, for reports.

#include <QByteArray>
#include <QSize>

#include "ui/canvas/mesh_scene.h"

namespace tessera::ui {

/// Draws the scene in the light colours, because reports are printed.
/// \param size logical pixels; the picture has twice as many in each direction
/// \return a PNG file
QByteArray scenePicture(const MeshScene& scene, QSize size);

}  // namespace tessera::ui
