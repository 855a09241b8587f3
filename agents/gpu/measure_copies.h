// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// How fast CUDA devices of a machine copy to each other.

#include <vector>

#include "ptc/base/result.h"

namespace tessera::agents {

/// Bytes per second of copies with their digests, as in a move, one value per copy. If the devices
/// do not reach each other, the bytes pass the host. Takes 64 MiB of each device meanwhile.
/// \param from and to may be the same device
/// \error as CudaDevice::Open, CudaRegion::Create and CopyCellAndDigest
Result<std::vector<double>> MeasureCopies(int from, int to);

}  // namespace tessera::agents
