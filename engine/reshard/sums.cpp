// SPDX-License-Identifier: Apache-2.0
#include "engine/reshard/sums.h"

#include <atomic>
#include <cstddef>
#include <vector>

#include "engine/checkpoint/torch/sums.h"
#include "engine/reshard/reshard_plan.h"

namespace tessera::reshard {

Result<SumsChecked> CheckSums(const checkpoint::Checkpoint& checkpoint,
                              const ReadOptions& options) {
  TESSERA_TRY(const std::int64_t tile_bytes, TileBytes(options.memory_bytes, options.threads));
  TESSERA_TRY(const auto sums, checkpoint::StatedSums(checkpoint));
  Meter meter;
  for (const checkpoint::StatedSum& sum : sums) meter.bytes_total += sum.size;
  // A file may have terabytes, so a stop takes effect inside it.
  std::atomic<bool> stop{false};
  const Watch watch = [&](const Progress& progress) {
    if (options.watch && !options.watch(progress)) stop = true;
    return !stop;
  };
  std::vector<std::vector<std::byte>> buffers(static_cast<std::size_t>(options.threads));
  const Status checked = RunPieces(std::ssize(sums), options.threads, meter, watch,
                                   [&](int worker, std::int64_t i) -> Status {
                                     auto& buffer = buffers[static_cast<std::size_t>(worker)];
                                     if (buffer.empty())
                                       buffer.resize(static_cast<std::size_t>(tile_bytes));
                                     return checkpoint::CheckSum(sums[static_cast<std::size_t>(i)],
                                                                 buffer, [&](std::int64_t bytes) {
                                                                   meter.bytes_done += bytes;
                                                                   return !stop;
                                                                 });
                                   });
  if (!checked) return checked.error();
  return SumsChecked{std::ssize(sums), meter.bytes_total};
}

}  // namespace tessera::reshard
