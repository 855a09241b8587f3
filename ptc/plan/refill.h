// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The plan of a layout whose state comes from outside: every device reads all of its pieces into
/// new memory beside the old ones.

#include "ptc/layout.h"
#include "ptc/plan/plan.h"

namespace tessera::ptc {

/// A plan from `layout` to itself that keeps nothing. `reads` has the cells of every device's
/// pieces, ordered by (tensor, box, device), so a source that has the pieces of any one holder can
/// serve them all. The old pieces are dropped. The plan and its hash depend on the layout only.
/// O(cells x holders).
Plan RefillPlan(const Layout& layout);

}  // namespace tessera::ptc
