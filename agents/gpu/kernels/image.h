// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The kernels as the driver loads them.

#include <cstddef>
#include <span>

namespace tessera::agents::gpu {

/// Whether this program was built with nvcc.
bool HasKernels();
/// A fatbin with code for several devices. Without kernels it is a mark that only an emulated
/// driver takes.
std::span<const std::byte> KernelImage();

}  // namespace tessera::agents::gpu
