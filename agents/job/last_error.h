// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Errors of the C interface.

#include "ptc/base/result.h"

namespace tessera::agents {

/// Stores the text of `error` for tessera_last_error().
/// \return the negative number that a function of the C interface returns for it
/// \threadsafety Each thread has an error of its own.
int Failed(const Error& error);

}  // namespace tessera::agents
