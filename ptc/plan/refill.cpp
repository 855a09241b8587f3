// SPDX-License-Identifier: Apache-2.0
#include "ptc/plan/refill.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <tuple>
#include <vector>

#include "ptc/base/at.h"
#include "ptc/base/check.h"
#include "ptc/digest.h"
#include "ptc/plan/kinds.h"

namespace tessera::ptc {

Outline RefillOutline(const Layout& layout) {
  // Distinguishes the plan from one that keeps everything, which has the same two layouts.
  constexpr std::uint64_t kRefill = 0x7265666c;
  Outline outline;
  outline.from_hash = outline.to_hash = layout.hash();
  outline.hash = Mix(layout.hash() ^ kRefill);
  outline.devices = DevicesOf(layout, layout);
  for (const DeviceId device : outline.devices) {
    const std::int64_t bytes = layout.BytesOf(*layout.mesh().RankOf(device));
    outline.bytes.storage += bytes;
    outline.peak_memory.push_back(2 * bytes);
  }
  return outline;
}

DeviceMoves RefillMoves(const Layout& layout, std::span<const DeviceId> devices) {
  const Kinds kinds = MakeKinds(layout, layout);
  DeviceMoves moves;
  for (int t = 0; t < std::ssize(layout.collection().tensors()); ++t) {
    const KindOnStages& staged = kinds.staged[At(kinds.staged_of_tensor[At(t)])];
    const Kind& kind = kinds.kinds[At(staged.kind)];
    const auto first_read = std::ssize(moves.reads);
    const auto first_move = std::ssize(moves.moves);
    for (const DeviceId device : devices) {
      const std::optional<int> rank = layout.mesh().RankOf(device);
      if (!rank || !kinds.to.IsOn(staged.to_stages, kinds.to.StageOf(*rank))) continue;
      const std::size_t part = At(kinds.to.PartOf(kind.to_axes, *rank));
      const std::vector<Box>& pieces = kind.pieces.needed[part];
      for (const int c : kind.needed_cells[part]) {
        const Box& cell = kind.cells[At(c)].box;
        const Box* piece = PieceWith(pieces, cell);
        TESSERA_CHECK(piece != nullptr);
        moves.reads.push_back({device, t, cell, *piece});
      }
      for (const Box& piece : pieces) moves.moves.emplace_back(Drop{device, t, piece});
    }
    std::sort(moves.reads.begin() + first_read, moves.reads.end(),
              [](const StorageRead& a, const StorageRead& b) {
                return std::tie(a.cell, a.device) < std::tie(b.cell, b.device);
              });
    std::sort(moves.moves.begin() + first_move, moves.moves.end(),
              [](const Move& a, const Move& b) {
                const auto& first = std::get<Drop>(a);
                const auto& second = std::get<Drop>(b);
                return std::tie(first.piece, first.device) < std::tie(second.piece, second.device);
              });
  }
  return moves;
}

}  // namespace tessera::ptc
