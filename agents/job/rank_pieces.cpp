// SPDX-License-Identifier: Apache-2.0
#include "agents/job/rank_pieces.h"

#include <fmt/format.h>

namespace tessera::agents {

static_assert(TESSERA_MAX_RANK == ptc::kMaxRank);
static_assert(TESSERA_MAX_AXES == ptc::kNumAxes);

Result<RankPieces> RankPieces::Make(const engine::Arena& arena, const engine::PieceTable& table,
                                    const ptc::Collection& collection) {
  const auto num_tensors = static_cast<std::int64_t>(collection.tensors().size());
  RankPieces made;
  for (const engine::PieceEntry& entry : table.entries()) {
    if (entry.kind != engine::PieceEntry::kState) continue;
    if (entry.tensor < 0 || entry.tensor >= num_tensors) {
      return DataLoss(
          fmt::format("piece of tensor {}: the layout names {}", entry.tensor, num_tensors));
    }
    const ptc::TensorSpec& spec = collection.tensors()[static_cast<std::size_t>(entry.tensor)];
    if (entry.box.rank() != static_cast<int>(spec.shape.size())) {
      return DataLoss(fmt::format("piece of tensor '{}': box {} for shape {}", spec.name,
                                  ptc::ToString(entry.box), ptc::ToString(spec.shape)));
    }
    const std::int64_t bytes = entry.box.num_elements() * ptc::SizeBytes(spec.dtype);
    if (entry.size_bytes != bytes) {
      return DataLoss(fmt::format("piece of tensor '{}': {} bytes, box {} of {} has {}", spec.name,
                                  entry.size_bytes, ptc::ToString(entry.box),
                                  ptc::ToString(spec.dtype), bytes));
    }
    tessera_piece piece{};
    piece.name = made.Intern(spec.name);
    piece.dtype = made.Intern(ptc::ToString(spec.dtype));
    piece.role = made.Intern(ptc::ToString(spec.role));
    piece.rank = entry.box.rank();
    for (int d = 0; d < piece.rank; ++d) {
      piece.shape[d] = spec.shape[static_cast<std::size_t>(d)];
      piece.begin[d] = entry.box[d].begin;
      piece.end[d] = entry.box[d].end;
    }
    piece.num_elements = entry.box.num_elements();
    piece.data = arena.AddressOf(entry.offset_bytes);
    const engine::DeviceMemory& memory = arena.memory();
    piece.memory = memory.IsHostAccessible() ? TESSERA_HOST : TESSERA_CUDA;
    piece.device = memory.IsHostAccessible() ? -1 : memory.device();
    if (spec.role == ptc::TensorRole::kParam) {
      const engine::PieceEntry* gradient =
          table.Find(engine::PieceEntry::kGradient, entry.tensor, entry.box);
      if (gradient == nullptr) {
        return DataLoss(fmt::format("piece {} of parameter '{}' has no gradient",
                                    ptc::ToString(entry.box), spec.name));
      }
      piece.gradient = arena.AddressOf(gradient->offset_bytes);
    }
    // The order is right: tables are sorted by (tensor, box), collections by name.
    made.pieces_.push_back(piece);
  }
  return made;
}

}  // namespace tessera::agents
