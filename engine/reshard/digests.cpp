// SPDX-License-Identifier: Apache-2.0
#include "engine/reshard/digests.h"

#include <atomic>
#include <cstddef>
#include <span>

#include "engine/reshard/reshard_plan.h"
#include "ptc/digest.h"
#include "ptc/packed.h"

namespace tessera::reshard {

Result<std::vector<std::uint64_t>> DigestsOf(const checkpoint::Checkpoint& checkpoint,
                                             const ReadOptions& options) {
  TESSERA_TRY(const std::int64_t tile_bytes, TileBytes(options.memory_bytes, options.threads));
  std::vector<TileSequence::Extent> extents;
  Meter meter;
  for (const checkpoint::StoredTensor& tensor : checkpoint.tensors()) {
    TESSERA_TRY(ptc::Shape units, ptc::UnitShape(tensor.dtype, tensor.shape));
    extents.push_back({std::move(units), ptc::SizeBytes(tensor.dtype)});
    meter.bytes_total += BytesOf({tensor.name, tensor.dtype, tensor.shape});
  }
  const TileSequence tiles(extents, tile_bytes);
  std::vector<std::uint64_t> digests(extents.size(), 0);
  std::vector<std::vector<std::byte>> buffers(static_cast<std::size_t>(options.threads));
  const Status read =
      RunPieces(tiles.count(), options.threads, meter, options.watch,
                [&](int worker, std::int64_t number) -> Status {
                  const auto tile = tiles.At(number);
                  const auto t = static_cast<std::size_t>(tile.tensor);
                  const checkpoint::StoredTensor& tensor = checkpoint.tensors()[t];
                  const std::int64_t elements = tile.box.num_elements();
                  auto& buffer = buffers[static_cast<std::size_t>(worker)];
                  if (buffer.empty()) buffer.resize(static_cast<std::size_t>(tile_bytes));
                  const auto bytes = std::span(buffer).first(
                      static_cast<std::size_t>(elements * ptc::SizeBytes(tensor.dtype)));
                  TESSERA_RETURN_IF_ERROR(checkpoint.Read(tile.tensor, tile.box, bytes));
                  std::atomic_ref(digests[t]) += ptc::DigestRun(
                      static_cast<std::uint64_t>(FirstIndex(extents[t].shape, tile.box) *
                                                 ptc::SizeBytes(tensor.dtype)),
                      bytes);
                  meter.bytes_done += std::ssize(bytes);
                  return OkStatus();
                });
  if (!read) return read.error();
  return digests;
}

}  // namespace tessera::reshard
