// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// What processes have in common that run under one kernel.

#include <string>

namespace tessera::engine {

/// The id of this boot of the kernel; empty where the system does not say. Equal for processes that
/// share cores and could share memory. \threadsafety Any thread.
std::string MachineIdentity();

}  // namespace tessera::engine
