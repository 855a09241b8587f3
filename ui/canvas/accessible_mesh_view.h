// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// MeshView to assistive technology: a list with one named child for each GPU, mesh first.

#include "ptc/mesh.h"

namespace tessera::ui {

class MeshView;

/// Makes Qt answer for MeshView with the list below. Cheap to call again.
void installAccessibleMeshView();
/// To be called when devices came, went or changed places.
void resetAccessibleChildren(MeshView* view);
void notifyAccessibleFocus(MeshView* view, ptc::DeviceId device);
void notifyAccessibleSelection(MeshView* view);

}  // namespace tessera::ui
