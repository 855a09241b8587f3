// SPDX-License-Identifier: Apache-2.0
#include "tests/ptc/volume_bound.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

namespace tessera::test {
namespace {

using ptc::Box;
using ptc::Layout;
using ptc::TensorSpec;

std::int64_t ElementsOutside(const std::vector<Box>& needed, const std::vector<Box>& held) {
  std::vector<Box> rest = needed;
  for (const Box& hole : held) rest = Subtract(rest, hole);
  std::int64_t elements = 0;
  for (const Box& box : rest) elements += box.num_elements();
  return elements;
}

/// The members of a tensor that determine the elements of a rank. Tensors in buckets are all
/// different.
TensorSpec Bare(const Layout& layout, std::size_t tensor) {
  TensorSpec spec = layout.collection().tensors()[tensor];
  if (spec.rule.bucket.empty()) spec.name.clear();
  spec.dtype = ptc::DType::kU8;
  spec.role = ptc::TensorRole::kParam;
  spec.aliases.clear();
  if (spec.place == ptc::StagePlace::kLayer) {
    spec.layer = layout.stage_of_layer()[static_cast<std::size_t>(spec.layer)];
  }
  return spec;
}

/// The elements of one tensor that devices need and do not hold, summed over devices.
std::int64_t MissingElements(const Layout& from, const Layout& to,
                             const std::vector<ptc::DeviceId>& lost, int tensor) {
  std::int64_t elements = 0;
  for (int rank = 0; rank < to.mesh().num_ranks(); ++rank) {
    const auto device = to.mesh().devices()[static_cast<std::size_t>(rank)];
    std::optional<int> old_rank = from.mesh().RankOf(device);
    if (std::count(lost.begin(), lost.end(), device) > 0) old_rank.reset();
    const std::vector<Box> needed = to.Boxes(rank, tensor);
    const std::vector<Box> held = old_rank ? from.Boxes(*old_rank, tensor) : std::vector<Box>{};
    elements += ElementsOutside(needed, held);
  }
  return elements;
}

}  // namespace

std::int64_t VolumeBound(const Layout& from, const Layout& to,
                         const std::vector<ptc::DeviceId>& lost) {
  struct Known {
    TensorSpec from, to;
    std::int64_t elements = 0;
  };
  std::vector<Known> known;
  std::int64_t bytes = 0;
  const std::vector<TensorSpec>& tensors = from.collection().tensors();
  for (std::size_t t = 0; t < tensors.size(); ++t) {
    const TensorSpec before = Bare(from, t);
    const TensorSpec after = Bare(to, t);
    auto at = std::find_if(known.begin(), known.end(), [&](const Known& other) {
      return other.from == before && other.to == after;
    });
    if (at == known.end()) {
      known.push_back({before, after, MissingElements(from, to, lost, static_cast<int>(t))});
      at = known.end() - 1;
    }
    bytes += at->elements * SizeBytes(tensors[t].dtype);
  }
  return bytes;
}

}  // namespace tessera::test
