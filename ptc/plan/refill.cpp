// SPDX-License-Identifier: Apache-2.0
#include "ptc/plan/refill.h"

#include <algorithm>

#include "ptc/base/check.h"
#include "ptc/cells.h"
#include "ptc/digest.h"

namespace tessera::ptc {
namespace {

/// The box among `pieces` that holds the cell.
const Box& PieceAround(const std::vector<Box>& pieces, const Box& cell) {
  const auto piece = std::find_if(pieces.begin(), pieces.end(),
                                  [&](const Box& box) { return Contains(box, cell); });
  TESSERA_CHECK(piece != pieces.end());
  return *piece;
}

}  // namespace

Plan RefillPlan(const Layout& layout) {
  // Tells the plan from one that keeps everything, which has the same two layouts.
  constexpr std::uint64_t kRefill = 0x7265666c;
  Plan plan;
  plan.from_hash = plan.to_hash = layout.hash();
  plan.hash = Mix(layout.hash() ^ kRefill);
  const std::vector<DeviceId> devices = DevicesOf(layout, layout);
  const auto& tensors = layout.collection().tensors();
  for (int t = 0; t < std::ssize(tensors); ++t) {
    const std::int64_t element = SizeBytes(tensors[static_cast<std::size_t>(t)].dtype);
    const TensorPieces pieces = PiecesOf(layout, layout, devices, t);
    for (const Cell& cell : MakeCells(pieces)) {
      for (const std::size_t owner : cell.needers.ToVector()) {
        const Box& piece = PieceAround(pieces.needed[owner], cell.box);
        plan.reads.push_back({devices[owner], t, cell.box, piece});
        plan.bytes.storage += cell.box.num_elements() * element;
      }
    }
    for (std::size_t owner = 0; owner < devices.size(); ++owner) {
      for (const Box& piece : pieces.held[owner]) {
        plan.moves.emplace_back(Drop{devices[owner], t, piece});
        plan.peak_memory[devices[owner]] += 2 * piece.num_elements() * element;
      }
    }
  }
  return plan;
}

}  // namespace tessera::ptc
