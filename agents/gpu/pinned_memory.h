// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Host memory that all CUDA devices of the process reach: kernels read and write it over the bus.

#include <cstddef>
#include <span>

#include "engine/copy/buffer_pool.h"
#include "ptc/base/result.h"

namespace tessera::agents {

class CudaDevice;

/// \param device outlives the memory
/// \error kUnavailable; kResourceExhausted
Result<engine::HostBuffer> MakePinnedMemory(const CudaDevice& device, std::size_t size);

/// Whether all of these bytes are of MakePinnedMemory, for whichever device.
/// \threadsafety Any thread.
bool IsPinned(std::span<const std::byte> bytes);

}  // namespace tessera::agents
