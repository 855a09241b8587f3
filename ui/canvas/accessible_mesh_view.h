// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// Presents MeshView to assistive technology as a list with one named child per GPU, mesh first.

#include "ptc/mesh.h"

namespace tessera::ui {

class MeshView;

/// Registers the accessible interface of MeshView with Qt. Repeated calls are cheap.
void installAccessibleMeshView();
/// Call this after devices were added, removed or reordered.
void resetAccessibleChildren(MeshView* view);
void notifyAccessibleFocus(MeshView* view, ptc::DeviceId device);
void notifyAccessibleSelection(MeshView* view);

}  // namespace tessera::ui
