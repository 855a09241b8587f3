// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Work that nobody waits for.

namespace tessera::agents {

/// Lets this thread yield to the ranks of its machine: it keeps about a tenth of a core that a rank
/// wants too. For work that no training step waits for.
void RunInBackground();

}  // namespace tessera::agents
