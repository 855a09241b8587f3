// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The environment that a rank needs before its program starts: numeric libraries read these
/// variables in their constructors, so that setting them later changes nothing. Needs no libtorch.

#include <string>
#include <vector>

namespace tessera::agents::train {

/// Variables as KEY=VALUE, only those that this process's own environment does not set:
/// one thread for OpenMP and OpenBLAS (a rank is one core's work), AVX-512 kernels for ATen where
/// the processor has them, and on Intel processors the OpenBLAS kernels by instruction set, because
/// OpenBLAS before 0.3.25 takes a model that it does not know for one without AVX.
std::vector<std::string> BlasEnvironment();

}  // namespace tessera::agents::train
