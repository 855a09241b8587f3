// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The plan of a layout whose state comes from outside: every device reads all of its pieces into
/// new memory beside the old ones.

#include <span>

#include "ptc/layout.h"
#include "ptc/plan/plan.h"

namespace tessera::ptc {

/// The outline of a plan from `layout` to itself that keeps nothing: it has hashes, bytes, devices
/// and memory, but no flows. The plan and its hash depend on the layout only.
Outline RefillOutline(const Layout& layout);

/// What `devices` read and drop in this plan: the cells of each piece, so a source that has the
/// pieces of any one holder can serve them all.
/// \pre `devices` are ascending
DeviceMoves RefillMoves(const Layout& layout, std::span<const DeviceId> devices);

}  // namespace tessera::ptc
