// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Gives an arena whose pieces lie on a CUDA device (MemoryKind::kCuda) the memory of that device.

#include "agents/gpu/cuda_device.h"
#include "engine/store/arena.h"
#include "ptc/base/result.h"

namespace tessera::agents {

/// Makes memory for all pieces, in place of none.
/// \return a descriptor that keeps it alive, which the caller closes
/// \error as CudaDevice::Open and CudaRegion::Create
Result<int> MakeCudaMemory(engine::Arena& arena, int device);

/// Attaches the memory that another process has made.
/// \param fd of MakeCudaMemory; may be closed afterwards
/// \error as CudaDevice::Open and CudaRegion::Import
Status AttachCudaMemory(engine::Arena& arena, int device, int fd);

}  // namespace tessera::agents
