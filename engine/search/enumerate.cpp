// SPDX-License-Identifier: Apache-2.0
#include "engine/search/enumerate.h"

#include <algorithm>

#include "engine/data/cursor.h"

namespace tessera::engine {

using ptc::Axis;

std::vector<ptc::MeshShape> MeshesOf(const JobSettings& settings, std::int64_t ranks,
                                     const ptc::MeshShape& like) {
  std::vector<ptc::MeshShape> meshes;
  const std::int64_t others = like[Axis::kEp] * like[Axis::kCp];
  if (ranks % others != 0) return meshes;
  const std::int64_t product = ranks / others;
  for (std::int64_t pp = 1; pp <= product; ++pp) {
    if (product % pp != 0) continue;
    for (std::int64_t dp = 1; dp <= product / pp; ++dp) {
      if (product / pp % dp != 0) continue;
      ptc::MeshShape mesh = like;
      mesh[Axis::kPp] = pp;
      mesh[Axis::kDp] = dp;
      mesh[Axis::kTp] = product / pp / dp;
      if (CheckMesh(settings, mesh, {})) meshes.push_back(mesh);
    }
  }
  return meshes;
}

std::vector<std::int64_t> MicroBatchesOf(const JobSettings& settings, const ptc::MeshShape& mesh) {
  std::vector<std::int64_t> sizes = {0};
  if (settings.program) return sizes;
  constexpr std::int64_t kLargest = 8;
  const std::int64_t share = ShareOfBatch(GlobalBatchOn(settings, mesh), 0, mesh[Axis::kDp]).size();
  const std::int64_t own = MicroBatch(settings, mesh, {});
  for (std::int64_t size = 1; size <= std::min(kLargest, share); size *= 2) {
    if (size != own) sizes.push_back(size);
  }
  return sizes;
}

}  // namespace tessera::engine
