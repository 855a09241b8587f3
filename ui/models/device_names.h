// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// Sets of devices as text.

#include <QString>
#include <vector>

#include "ptc/mesh.h"

namespace tessera::ui {

/// "n1g0–n1g3, n2g0": runs within a node are joined. More than three runs become "8 GPUs".
QString deviceNames(std::vector<ptc::DeviceId> devices);

/// "n0g0,n0g1", as the command line takes it.
QString deviceArgument(const std::vector<ptc::DeviceId>& devices);

/// Returns the coordinate of `rank` along `axis` in a mesh of `shape`; ranks are row-major over
/// (pp, dp, ep, cp, tp).
/// \pre every degree >= 1
std::int64_t coordinate(const ptc::MeshShape& shape, int rank, ptc::Axis axis);

}  // namespace tessera::ui
