// SPDX-License-Identifier: Apache-2.0
#include "agents/gpu/measure_copies.h"

#include <chrono>
#include <memory>
#include <utility>

#include "agents/gpu/cell_plan.h"
#include "agents/gpu/cuda_region.h"

namespace tessera::agents {

Result<std::vector<double>> MeasureCopies(int device) {
  using Clock = std::chrono::steady_clock;
  constexpr std::int64_t kBytes = std::int64_t{64} << 20;  // above the cache of most
  constexpr int kRuns = 5;
  TESSERA_TRY(const std::shared_ptr<const CudaDevice> on, CudaDevice::Open(device));
  TESSERA_TRY(const auto from, CudaRegion::Create(on, kBytes));
  TESSERA_TRY(const auto to, CudaRegion::Create(on, kBytes));
  TESSERA_TRY(const CudaDevice::QueuePtr queue, on->TakeQueue());
  const ptc::Box box = *ptc::Box::Whole({kBytes});
  const gpu::CellWork work = gpu::CopyWork({box, box, 1, from->address()},
                                           {box, box, 1, to->address()}, nullptr, 0, kBytes, 0);
  std::vector<double> out;
  for (int run = 0; run <= kRuns; ++run) {
    const auto begin = Clock::now();
    TESSERA_RETURN_IF_ERROR(queue->Launch(work));
    TESSERA_RETURN_IF_ERROR(queue->Wait());
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    if (run > 0) out.push_back(static_cast<double>(kBytes) / seconds);  // the first one warms up
  }
  return out;
}

}  // namespace tessera::agents
