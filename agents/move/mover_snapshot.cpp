// SPDX-License-Identifier: Apache-2.0
/// \file
/// Reads the new pieces of this node's devices from a snapshot or a checkpoint.

#include <memory>
#include <set>
#include <tuple>

#include "agents/move/mover.h"
#include "agents/move/parallel.h"
#include "agents/views/share_reader.h"

namespace tessera::agents {

Status Mover::ReadSnapshot(const std::stop_token& stop) {
  const MoveContext& c = *context_;
  const auto readers = std::make_shared<LaneReaders>(wire_.keys, wire_.counts);
  const std::stop_callback cancel(stop, [&readers] { readers->Cancel(); });
  TESSERA_TRY(SharedState state, DecodeSharedState(c.snapshot->shares.job()));
  TESSERA_TRY(const ShareReader reader,
              ShareReader::Make(c.snapshot->shares, std::move(state), readers,
                                {.machine = c.snapshot->machine, .is_snapshot = true}));
  return ReadPieces(stop, [&](int tensor, const ptc::Box& box, std::span<std::byte> out) {
    return reader.Read(tensor, box, out);
  });
}

Status Mover::ReadCheckpoint(const std::stop_token& stop) {
  TESSERA_TRY(const StoredTensors tensors, context_->open_checkpoint());
  return ReadPieces(stop, [&](int tensor, const ptc::Box& box, std::span<std::byte> out) {
    return tensors.Read(tensor, box, out);
  });
}

Status Mover::ReadPieces(const std::stop_token& stop, const ReadBox& read) {
  const MoveContext& c = *context_;
  // Several reads at once keep the lanes busy.
  struct Work {
    const ptc::StorageRead* planned;
    ptc::Box range;
  };
  std::vector<Work> work;
  std::set<std::tuple<ptc::DeviceId, int, ptc::Box>> done;  // several reads may be of one piece
  for (const ptc::StorageRead& planned : c.plan->reads) {
    if (!c.local.contains(planned.device)) continue;
    if (!done.emplace(planned.device, planned.tensor, planned.piece).second) continue;
    for (ptc::Box& range : WorkOf(c, planned.tensor, planned.piece)) {
      work.push_back({&planned, std::move(range)});
    }
  }
  return ForEachInParallel(work.size(), stop, [&](std::size_t at) -> Status {
    const auto& [planned, range] = work[at];
    TESSERA_TRY(const engine::DeviceCell cell, FindCell(c, NextPieces(c, planned->device),
                                                        planned->tensor, planned->piece, range));
    // The range is row-major in the piece, so it is one run of bytes there.
    const std::span<std::byte> in_place = cell.InPlace(0, cell.size_bytes());
    if (in_place.empty()) {
      std::vector<std::byte> bytes(static_cast<std::size_t>(cell.size_bytes()));
      TESSERA_RETURN_IF_ERROR(read(planned->tensor, range, bytes));
      TESSERA_RETURN_IF_ERROR(cell.Unpack(0, bytes));
    } else {
      TESSERA_RETURN_IF_ERROR(read(planned->tensor, range, in_place));
    }
    storage_done_ += cell.size_bytes();
    return OkStatus();
  });
}

}  // namespace tessera::agents
