// SPDX-License-Identifier: Apache-2.0
#include "ptc/plan/placement.h"

#include <algorithm>

#include "ptc/base/at.h"
#include "ptc/plan/block_placement.h"
#include "ptc/plan/placement_problem.h"

namespace tessera::ptc {
namespace {

/// Solves one assignment problem of all ranks and devices.
std::vector<int> PlaceExactly(PlacementProblem& problem) {
  std::vector<int> ranks;
  std::vector<int> candidates;
  for (int rank = 0; rank < problem.num_ranks(); ++rank) ranks.push_back(rank);
  for (std::size_t c = 0; c < problem.candidates().size(); ++c) {
    candidates.push_back(static_cast<int>(c));
  }
  return problem.Assign(ranks, candidates);
}

}  // namespace

Result<Placement> FindPlacement(const Layout& from, const MeshShape& shape,
                                const CollectionPtr& collection,
                                const std::vector<DeviceId>& devices, const Topology& topology,
                                const StageRule& stages, const std::vector<DeviceId>& lost) {
  TESSERA_RETURN_IF_ERROR(CheckSameTensors(from.collection(), *collection, true));
  std::vector<DeviceId> ascending = devices;
  std::sort(ascending.begin(), ascending.end());
  std::vector<DeviceId> first = ascending;
  const auto num_ranks = static_cast<std::size_t>(shape.num_ranks());
  if (first.size() > num_ranks) first.resize(num_ranks);
  TESSERA_TRY(DeviceMesh trial_mesh, DeviceMesh::Make(shape, std::move(first)));
  TESSERA_TRY(const Layout trial, Layout::Make(std::move(trial_mesh), collection, stages));
  PlacementProblem problem(from, trial, ascending, topology, lost);
  const bool is_small = std::max(num_ranks, ascending.size()) <= kExactRanks;
  std::int64_t bound = 0;
  const std::vector<int> chosen = is_small ? PlaceExactly(problem) : PlaceBlocks(problem, bound);
  std::int64_t in_place = 0;
  std::vector<DeviceId> placed;
  for (std::size_t rank = 0; rank < num_ranks; ++rank) {
    in_place += problem.OnDevice(static_cast<int>(rank), chosen[rank]);
    placed.push_back(ascending[At(chosen[rank])]);
  }
  TESSERA_TRY(DeviceMesh mesh, DeviceMesh::Make(shape, std::move(placed)));
  return Placement{std::move(mesh), in_place, is_small ? in_place : bound};
}

Result<DeviceMesh> Place(const Layout& from, const MeshShape& shape,
                         const CollectionPtr& collection, const std::vector<DeviceId>& devices,
                         const Topology& topology, const StageRule& stages,
                         const std::vector<DeviceId>& lost) {
  TESSERA_TRY(Placement placement,
              FindPlacement(from, shape, collection, devices, topology, stages, lost));
  return std::move(placement.mesh);
}

Result<DeviceMesh> Place(const Layout& from, const MeshShape& shape,
                         const std::vector<DeviceId>& devices, const Topology& topology) {
  return Place(from, shape, from.collection_ptr(), devices, topology);
}

}  // namespace tessera::ptc
