// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Checks which numeric libraries the process has loaded.

#include <string>

namespace tessera::agents::train {

/// Returns a one-line warning if matrix products will be slow: the reference BLAS is loaded, or
/// OpenBLAS uses kernels from before AVX on a processor that has it. Else empty.
std::string NumericLibraryWarning();

}  // namespace tessera::agents::train
