// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Errors of the C interface.

#include "ptc/base/result.h"

namespace tessera::agents {

/// What a function of the C interface returns for `error`, below 0; tessera_last_error() then has
/// its text. \threadsafety Each thread has an error of its own.
int Failed(const Error& error);

}  // namespace tessera::agents
