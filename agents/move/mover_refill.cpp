// SPDX-License-Identifier: Apache-2.0
/// \file
/// Fetches all state of this node's devices from the client of a hand-in.

#include <tuple>
#include <utility>

#include "agents/move/mover.h"
#include "engine/copy/fused.h"

namespace tessera::agents {

Status Mover::Refill(const std::stop_token& stop, MoveResult& result) {
  const MoveContext& c = *context_;
  FetchBatch batch{c.hand_in->lanes, c.hand_in->public_key, {}, {}};
  for (std::int64_t i = 0; i < std::ssize(c.plan->reads); ++i) {
    const ptc::StorageRead& read = c.plan->reads[static_cast<std::size_t>(i)];
    if (!c.local.contains(read.device)) continue;
    TESSERA_TRY(const engine::DeviceCell write,
                FindCell(c, NextPieces(c, read.device), read.tensor, read.piece, read.cell));
    const ptc::TensorSpec& spec = c.SpecOf(read.tensor);
    batch.cells.push_back(Fetch{i,
                                {0, read.tensor, read.cell},
                                write,
                                engine::IndicesOf(spec.dtype, spec.shape, read.cell),
                                {}});
  }
  if (batch.cells.empty()) return OkStatus();
  const LaneKey key{c.key.job, c.hand_in->number, kHandInAttempt};
  std::vector<FetchBatch> batches;
  batches.push_back(std::move(batch));
  FetchCallbacks callbacks;
  callbacks.progress = [this](std::size_t, std::int64_t, std::int64_t bytes) {
    storage_done_ += bytes;
  };
  callbacks.cell_done = [&](std::int64_t index, std::uint64_t digest) {
    const ptc::StorageRead& read = c.plan->reads[static_cast<std::size_t>(index)];
    const std::lock_guard lock(mutex_);
    arrived_.emplace(std::tuple(read.device, read.tensor, read.cell), digest);
    ++result.checksums_equal;
  };
  return FetchCells(stop, key, std::move(batches), std::move(callbacks));
}

}  // namespace tessera::agents
