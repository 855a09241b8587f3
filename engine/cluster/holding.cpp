// SPDX-License-Identifier: Apache-2.0
#include "engine/cluster/holding.h"

#include "ptc/dtype.h"

namespace tessera::engine {

Holding HoldingOf(const ptc::Layout& layout, int rank) {
  Holding holding;
  const auto& tensors = layout.collection().tensors();
  for (std::size_t t = 0; t < tensors.size(); ++t) {
    const ptc::TensorRole role = tensors[t].role;
    std::int64_t bytes = 0;
    for (const ptc::Box& box : layout.Boxes(rank, static_cast<int>(t))) {
      ++holding.pieces;
      bytes += box.num_elements() * ptc::SizeBytes(tensors[t].dtype);
    }
    if (role == ptc::TensorRole::kParam) holding.parameter_bytes += bytes;
    if (role == ptc::TensorRole::kMaster || role == ptc::TensorRole::kExpAvg ||
        role == ptc::TensorRole::kExpAvgSq) {
      holding.optimizer_bytes += bytes;
    }
  }
  return holding;
}

std::vector<Holding> HoldingsOf(const ptc::Layout& layout) {
  std::vector<Holding> holdings;
  for (int rank = 0; rank < layout.mesh().num_ranks(); ++rank) {
    holdings.push_back(HoldingOf(layout, rank));
  }
  return holdings;
}

}  // namespace tessera::engine
