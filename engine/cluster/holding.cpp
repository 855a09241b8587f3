// SPDX-License-Identifier: Apache-2.0
#include "engine/cluster/holding.h"

#include <map>
#include <set>
#include <utility>

#include "ptc/dtype.h"

namespace tessera::engine {

Holding HoldingOf(const ptc::Layout& layout, int rank) {
  Holding holding;
  const auto& tensors = layout.collection().tensors();
  for (std::size_t t = 0; t < tensors.size(); ++t) {
    const ptc::TensorRole role = tensors[t].role;
    std::int64_t elements = 0;
    for (const ptc::Box& box : layout.Boxes(rank, static_cast<int>(t))) {
      ++holding.pieces;
      elements += box.num_elements();
    }
    const std::int64_t bytes = elements * ptc::SizeBytes(tensors[t].dtype);
    switch (role) {
      case ptc::TensorRole::kParam:
        holding.parameter_bytes += bytes;
        holding.gradient_bytes += elements * static_cast<std::int64_t>(sizeof(float));
        break;
      case ptc::TensorRole::kMaster:
      case ptc::TensorRole::kExpAvg:
      case ptc::TensorRole::kExpAvgSq:
        holding.optimizer_bytes += bytes;
        break;
      case ptc::TensorRole::kBuffer:
      case ptc::TensorRole::kRng:
      case ptc::TensorRole::kScalar:
        holding.other_bytes += bytes;
        break;
    }
  }
  return holding;
}

std::vector<Holding> HoldingsOf(const ptc::Layout& layout) {
  // Ranks that differ only along axes that cut nothing hold the same.
  const ptc::DeviceMesh& mesh = layout.mesh();
  std::set<ptc::Axis> cutting = {ptc::Axis::kPp};
  const auto num_tensors = static_cast<int>(layout.collection().tensors().size());
  for (int tensor = 0; tensor < num_tensors; ++tensor) {
    const std::vector<ptc::Axis> axes = layout.PartsOf(tensor).axes;
    cutting.insert(axes.begin(), axes.end());
  }
  std::map<std::vector<std::int64_t>, Holding> known;  // by coordinates along these axes
  std::vector<Holding> holdings;
  for (int rank = 0; rank < mesh.num_ranks(); ++rank) {
    std::vector<std::int64_t> part;
    for (const ptc::Axis axis : cutting) part.push_back(mesh.Coordinate(rank, axis));
    auto found = known.find(part);
    if (found == known.end()) {
      found = known.emplace(std::move(part), HoldingOf(layout, rank)).first;
    }
    holdings.push_back(found->second);
  }
  return holdings;
}

}  // namespace tessera::engine
