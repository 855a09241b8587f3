// SPDX-License-Identifier: Apache-2.0
// The kernel on cells: every thread does its part of cell_work.h, and the digests of a block are
// added up before one thread of it adds them to the result.
#include "agents/gpu/kernels/cell_work.h"

namespace tessera::agents::gpu {
namespace {

constexpr int kWarp = 32;
constexpr unsigned kAllLanes = 0xffffffffU;

__device__ std::uint64_t SumOfWarp(std::uint64_t value) {
  for (int distance = kWarp / 2; distance > 0; distance /= 2) {
    value += __shfl_down_sync(kAllLanes, value, distance);
  }
  return value;
}

}  // namespace
}  // namespace tessera::agents::gpu

/// \pre blockDim.x is a multiple of 32, at most 1024
extern "C" __global__ void tessera_cells(tessera::agents::gpu::CellWork work) {
  using namespace tessera::agents::gpu;
  const auto thread = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  std::uint64_t digest =
      RunCellThread(work, thread, static_cast<std::int64_t>(gridDim.x) * blockDim.x);
  if (work.digest == 0) return;  // alike for all threads
  __shared__ std::uint64_t of_warp[kWarp];
  digest = SumOfWarp(digest);
  if (threadIdx.x % kWarp == 0) of_warp[threadIdx.x / kWarp] = digest;
  __syncthreads();
  if (threadIdx.x >= kWarp) return;
  digest = SumOfWarp(threadIdx.x < blockDim.x / kWarp ? of_warp[threadIdx.x] : 0);
  if (threadIdx.x == 0) {
    atomicAdd(reinterpret_cast<unsigned long long*>(work.digest),
              static_cast<unsigned long long>(digest));
  }
}
