// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The plan of a layout whose state comes from outside: every device reads all of its pieces anew,
/// into fresh memory beside the old ones.

#include "ptc/layout.h"
#include "ptc/plan/plan.h"

namespace tessera::ptc {

/// From `layout` to itself with nothing kept: `reads` are the cells of every device's pieces,
/// ordered by (tensor, box, device), so that whoever has any one holder's pieces can serve them
/// all. The old pieces are dropped. A function of the layout alone, hash included. O(cells x
/// holders).
Plan RefillPlan(const Layout& layout);

}  // namespace tessera::ptc
