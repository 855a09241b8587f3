// SPDX-License-Identifier: Apache-2.0
/// \file
/// Reads the new pieces of this node's devices from a snapshot or a checkpoint.

#include <memory>
#include <set>
#include <tuple>

#include "agents/move/file_reads.h"
#include "agents/move/mover.h"
#include "agents/move/parallel.h"
#include "agents/views/share_reader.h"

namespace tessera::agents {
namespace {

/// A range of a next piece of a device of this node that the plan reads from storage.
struct PieceRange {
  const ptc::StorageRead* planned;
  ptc::Box range;
};

std::vector<PieceRange> PieceRangesOf(const MoveContext& c) {
  std::vector<PieceRange> out;
  std::set<std::tuple<ptc::DeviceId, int, ptc::Box>> done;  // several reads may be of one piece
  for (const ptc::StorageRead& planned : c.plan->reads) {
    if (!c.local.contains(planned.device)) continue;
    if (!done.emplace(planned.device, planned.tensor, planned.piece).second) continue;
    for (ptc::Box& range : WorkOf(c, planned.tensor, planned.piece)) {
      out.push_back({&planned, std::move(range)});
    }
  }
  return out;
}

Result<engine::DeviceCell> CellOfRange(const MoveContext& c, const PieceRange& piece) {
  const ptc::StorageRead& planned = *piece.planned;
  return FindCell(c, NextPieces(c, planned.device), planned.tensor, planned.piece, piece.range);
}

}  // namespace

Status Mover::ReadSnapshot(const std::stop_token& stop) {
  const MoveContext& c = *context_;
  const auto readers = std::make_shared<LaneReaders>(wire_.keys, wire_.counts);
  const std::stop_callback cancel(stop, [&readers] { readers->Cancel(); });
  TESSERA_TRY(SharedState state, DecodeSharedState(c.snapshot->shares.job()));
  TESSERA_TRY(const ShareReader reader,
              ShareReader::Make(c.snapshot->shares, std::move(state), readers,
                                {.machine = c.snapshot->machine, .is_snapshot = true}));
  const std::vector<PieceRange> pieces = PieceRangesOf(c);
  // Several reads at once keep the lanes busy.
  return ForEachInParallel(pieces.size(), stop, [&](std::size_t at) -> Status {
    const auto& [planned, range] = pieces[at];
    TESSERA_TRY(const engine::DeviceCell cell, CellOfRange(c, pieces[at]));
    // The range is row-major in the piece, so it is one run of bytes there.
    const std::span<std::byte> in_place = cell.InPlace(0, cell.size_bytes());
    if (in_place.empty()) {
      std::vector<std::byte> bytes(static_cast<std::size_t>(cell.size_bytes()));
      TESSERA_RETURN_IF_ERROR(reader.Read(planned->tensor, range, bytes));
      TESSERA_RETURN_IF_ERROR(cell.Unpack(0, bytes));
    } else {
      TESSERA_RETURN_IF_ERROR(reader.Read(planned->tensor, range, in_place));
    }
    storage_done_ += cell.size_bytes();
    return OkStatus();
  });
}

// A file is never read into place: a read that was left behind may end at any time, when other
// state lies there.
Status Mover::ReadCheckpoint(const std::stop_token& stop) {
  return RunFileReads(
      stop, *wire_.left,
      [this, context = context_](ReadGate& gate, const std::stop_token& stop_reads) -> Status {
        const MoveContext& c = *context;
        TESSERA_TRY(const StoredTensors tensors, c.open_checkpoint());
        const std::vector<PieceRange> pieces = PieceRangesOf(c);
        return ForEachInParallel(pieces.size(), stop_reads, [&](std::size_t at) -> Status {
          const auto& [planned, range] = pieces[at];
          const std::int64_t size =
              range.num_elements() * ptc::SizeBytes(c.TypeOf(planned->tensor));
          std::vector<std::byte> bytes(static_cast<std::size_t>(size));
          TESSERA_RETURN_IF_ERROR(tensors.Read(planned->tensor, range, bytes));
          return gate.Use([&]() -> Status {
            TESSERA_TRY(const engine::DeviceCell cell, CellOfRange(c, pieces[at]));
            TESSERA_RETURN_IF_ERROR(cell.Unpack(0, bytes));
            storage_done_ += size;
            return OkStatus();
          });
        });
      });
}

}  // namespace tessera::agents
