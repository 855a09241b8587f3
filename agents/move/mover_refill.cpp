// SPDX-License-Identifier: Apache-2.0
/// \file
/// Fetches all state of this node's devices from the client of a hand-in and compares it with the
/// digests of the client.

#include <fmt/format.h>

#include "agents/move/mover.h"
#include "ptc/digest.h"

namespace tessera::agents {

Status Mover::Refill(const std::stop_token& stop, MoveResult& result) {
  const MoveContext& c = *context_;
  FetchBatch batch{c.hand_in->lanes, c.hand_in->public_key, {}};
  for (std::int64_t i = 0; i < std::ssize(c.plan.reads); ++i) {
    const ptc::StorageRead& read = c.plan.reads[static_cast<std::size_t>(i)];
    if (!c.local.contains(read.device)) continue;
    TESSERA_TRY(const engine::CellView write,
                ViewOfCell(c, NextPieces(c, read.device), read.tensor, read.piece, read.cell));
    batch.cells.push_back(Fetch{i, {0, read.tensor, read.cell}, write, {}});
  }
  if (batch.cells.empty()) return OkStatus();
  const LaneKey key{c.key.job, c.hand_in->number, kHandInAttempt};
  std::vector<FetchBatch> batches;
  batches.push_back(std::move(batch));
  TESSERA_RETURN_IF_ERROR(
      FetchCells(stop, key, std::move(batches),
                 [this](std::int64_t, std::int64_t bytes) { storage_done_ += bytes; }));

  for (const auto& [index, expected] : source_digests_) {
    if (stop.stop_requested()) return Cancelled("the transfer was cancelled");
    const ptc::StorageRead& read = c.plan.reads[static_cast<std::size_t>(index)];
    TESSERA_TRY(const std::uint64_t digest,
                DigestOfCell(c, NextPieces(c, read.device), read.tensor, read.cell));
    if (digest != expected) {
      return DataLoss(fmt::format("tensor '{}' {}: digest on {} is {}, of the handed-in state {}",
                                  c.SpecOf(read.tensor).name, ToString(read.cell),
                                  ToString(read.device), ptc::Hex16(digest), ptc::Hex16(expected)));
    }
    ++result.checksums_equal;
  }
  source_digests_.clear();
  return OkStatus();
}

}  // namespace tessera::agents
