// SPDX-License-Identifier: Apache-2.0
/// \file
/// The volume bound, straight from its definition and with nothing of the planner: for each device
/// and tensor, subtract every old piece from every new one and count what is left.
#include "ptc/plan/plan.h"

namespace tessera::ptc {
namespace {

std::int64_t ElementsOutside(const std::vector<Box>& needed, const std::vector<Box>& held) {
  std::vector<Box> rest = needed;
  for (const Box& hole : held) {
    std::vector<Box> next;
    for (const Box& box : rest) {
      for (const Box& piece : Subtract(box, hole)) next.push_back(piece);
    }
    rest = std::move(next);
  }
  std::int64_t elements = 0;
  for (const Box& box : rest) elements += box.num_elements();
  return elements;
}

}  // namespace

std::int64_t VolumeBound(const Layout& from, const Layout& to) {
  std::int64_t bytes = 0;
  const std::vector<TensorSpec>& tensors = to.collection().tensors();
  for (int rank = 0; rank < to.mesh().num_ranks(); ++rank) {
    const auto device = to.mesh().devices()[static_cast<std::size_t>(rank)];
    const std::optional<int> old_rank = from.mesh().RankOf(device);
    for (std::size_t t = 0; t < tensors.size(); ++t) {
      const int tensor = static_cast<int>(t);
      const std::vector<Box> needed = to.Boxes(rank, tensor);
      const std::vector<Box> held = old_rank ? from.Boxes(*old_rank, tensor) : std::vector<Box>{};
      bytes += ElementsOutside(needed, held) * SizeBytes(tensors[t].dtype);
    }
  }
  return bytes;
}

}  // namespace tessera::ptc
