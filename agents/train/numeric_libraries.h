// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// What the process's numeric libraries turned out to be.

#include <string>

namespace tessera::agents::train {

/// A warning of one line where matrix products will be slow: the reference BLAS, or OpenBLAS with
/// kernels of before AVX on a processor that has it. Empty where all is well.
std::string NumericLibraryWarning();

}  // namespace tessera::agents::train
