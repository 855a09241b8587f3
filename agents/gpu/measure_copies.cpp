// SPDX-License-Identifier: Apache-2.0
#include "agents/gpu/measure_copies.h"

#include <chrono>
#include <memory>

#include "agents/gpu/cuda_memory.h"
#include "agents/gpu/cuda_region.h"
#include "engine/copy/device_memory.h"

namespace tessera::agents {

Result<std::vector<double>> MeasureCopies(int from, int to) {
  using Clock = std::chrono::steady_clock;
  constexpr std::int64_t kBytes = std::int64_t{64} << 20;  // above the cache of most
  constexpr int kRuns = 5;
  TESSERA_TRY(const std::shared_ptr<const CudaDevice> source, CudaDevice::Open(from));
  TESSERA_TRY(const std::shared_ptr<const CudaDevice> target, CudaDevice::Open(to));
  TESSERA_TRY(const auto read, CudaRegion::Create(source, kBytes));
  TESSERA_TRY(const auto written, CudaRegion::Create(target, kBytes));
  const CudaMemory source_memory(source), target_memory(target);
  const ptc::Box box = *ptc::Box::Whole({kBytes / 4});
  const engine::DeviceCell cell(source_memory, {box, box, 4, read->address()});
  const engine::DeviceCell copy(target_memory, {box, box, 4, written->address()});
  const engine::CellView indices = engine::IndicesOf(ptc::DType::kF32, box.shape(), box);
  std::vector<double> out;
  for (int run = 0; run <= kRuns; ++run) {
    const auto begin = Clock::now();
    TESSERA_TRY(const auto digests, engine::CopyCellAndDigest({&copy, 1}, cell, indices));
    static_cast<void>(digests);
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    if (run > 0) out.push_back(static_cast<double>(kBytes) / seconds);  // the first one warms up
  }
  return out;
}

}  // namespace tessera::agents
