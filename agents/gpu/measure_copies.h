// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// How fast a CUDA device copies inside its memory.

#include <vector>

#include "ptc/base/result.h"

namespace tessera::agents {

/// Bytes per second of copies by the kernel, one value per copy. Takes 128 MiB of the device
/// meanwhile.
/// \error as CudaDevice::Open and CudaRegion::Create
Result<std::vector<double>> MeasureCopies(int device);

}  // namespace tessera::agents
