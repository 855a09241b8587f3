// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The environment that a rank needs before its program starts. Numeric libraries read these
/// variables in their constructors, so setting them later has no effect. Needs no libtorch.

#include <string>
#include <vector>

namespace tessera::agents::train {

/// Returns variables as KEY=VALUE, only those that the environment of this process does not set:
/// one thread for OpenMP and OpenBLAS (a rank uses one core), AVX-512 kernels for ATen if the
/// processor has them, and on Intel processors the OpenBLAS kernels by instruction set, because
/// OpenBLAS before 0.3.25 treats unknown models as processors without AVX.
std::vector<std::string> BlasEnvironment();

}  // namespace tessera::agents::train
