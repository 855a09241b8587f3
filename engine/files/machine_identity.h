// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Identifies the running kernel, which all processes of a machine share.

#include <string>

namespace tessera::engine {

/// Returns the id of this boot of the kernel, or an empty text if it cannot be read. Processes with
/// equal ids share cores and can share memory.
/// \threadsafety Any thread.
std::string MachineIdentity();

}  // namespace tessera::engine
