// SPDX-License-Identifier: Apache-2.0
#include "ptc/plan/refill.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "ptc/base/at.h"
#include "ptc/base/check.h"
#include "ptc/digest.h"
#include "ptc/plan/placed_cells.h"

namespace tessera::ptc {

Plan RefillPlan(const Layout& layout) {
  // Distinguishes the plan from one that keeps everything, which has the same two layouts.
  constexpr std::uint64_t kRefill = 0x7265666c;
  Plan plan;
  plan.from_hash = plan.to_hash = layout.hash();
  plan.hash = Mix(layout.hash() ^ kRefill);
  const PlacedCells cells(layout, layout);
  const RankParts& ranks = cells.kinds().to;
  const std::vector<DeviceId> devices = DevicesOf(layout, layout);
  const auto& tensors = layout.collection().tensors();
  for (int t = 0; t < std::ssize(tensors); ++t) {
    const std::int64_t element = SizeBytes(tensors[At(t)].dtype);
    const KindOnStages& staged = cells.kinds().staged[At(cells.kinds().staged_of_tensor[At(t)])];
    const Kind& kind = cells.kinds().kinds[At(staged.kind)];
    const auto pieces_on = [&](DeviceId device) -> const std::vector<Box>& {
      static const std::vector<Box> kNone;
      const int rank = *layout.mesh().RankOf(device);
      if (!ranks.IsOn(staged.to_stages, ranks.StageOf(rank))) return kNone;
      return kind.pieces.needed[At(ranks.PartOf(kind.to_axes, rank))];
    };
    cells.ForEach(t, [&](const Box& cell, const auto& /*holders*/, const auto& needers) {
      for (const DeviceId device : needers) {
        const Box* piece = PieceWith(pieces_on(device), cell);
        TESSERA_CHECK(piece != nullptr);
        plan.reads.push_back({device, t, cell, *piece});
        plan.bytes.storage += cell.num_elements() * element;
      }
    });
    for (const DeviceId device : devices) {
      for (const Box& piece : pieces_on(device)) {
        plan.moves.emplace_back(Drop{device, t, piece});
        plan.peak_memory[device] += 2 * piece.num_elements() * element;
      }
    }
  }
  return plan;
}

}  // namespace tessera::ptc
