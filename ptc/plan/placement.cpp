// SPDX-License-Identifier: Apache-2.0
#include "ptc/plan/placement.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <numeric>
#include <utility>

#include "ptc/base/at.h"
#include "ptc/plan/block_placement.h"
#include "ptc/plan/placement_problem.h"
#include "ptc/plan/spread.h"

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

/// By rank: the position of its device.
using Chosen = std::vector<int>;

/// Assigns some ranks to some devices.
using Assign =
    std::function<Chosen(const std::vector<int>& ranks, const std::vector<int>& devices)>;

Chosen PlaceHalves(const Halves& halves, int num_ranks, const Assign& assign) {
  Chosen chosen(At(num_ranks));
  for (const Half& half : halves) {
    const std::vector<int> devices = assign(half.ranks, half.devices);
    for (std::size_t i = 0; i < half.ranks.size(); ++i) chosen[At(half.ranks[i])] = devices[i];
  }
  return chosen;
}

std::vector<std::int32_t> Pick(const std::vector<std::int32_t>& by_device, const Chosen& chosen) {
  std::vector<std::int32_t> by_rank;
  for (const int device : chosen) by_rank.push_back(by_device[At(device)]);
  return by_rank;
}

/// Racks, if there are several, and nodes, by device.
std::vector<std::vector<std::int32_t>> DomainsOf(const std::vector<DeviceId>& devices,
                                                 const Topology& topology) {
  std::vector<std::int32_t> racks, nodes;
  for (const DeviceId device : devices) {
    racks.push_back(topology.RackOf(topology.HostOf(device)));
    nodes.push_back(device.node);
  }
  return {std::move(racks), std::move(nodes)};
}

/// The ways to keep the replicas apart that `first` does not: in different racks, on different
/// nodes. Of several in the same kind of domain the one of most `value`.
/// \param assign none: there are too many ranks for anything but consecutive devices
std::vector<Chosen> PlaceApart(const MeshShape& shape, const std::vector<DeviceId>& devices,
                               const Topology& topology, const Chosen& first, const Assign& assign,
                               const std::function<std::int64_t(const Chosen&)>& value) {
  std::vector<Chosen> out;
  const auto num_ranks = static_cast<int>(shape.num_ranks());
  for (const std::vector<std::int32_t>& domains : DomainsOf(devices, topology)) {
    if (KeepsReplicasApart(shape, Pick(domains, first))) break;
    std::vector<Chosen> ways;
    if (assign) {
      for (const Halves& halves : DivideReplicas(shape, domains, first)) {
        ways.push_back(PlaceHalves(halves, num_ranks, assign));
      }
    }
    Chosen consecutive(At(num_ranks));
    int next = 0;
    for (const int rank : ReplicaByReplica(shape)) consecutive[At(rank)] = next++;
    if (KeepsReplicasApart(shape, Pick(domains, consecutive)))
      ways.push_back(std::move(consecutive));
    if (ways.empty()) continue;
    const auto best = std::ranges::max_element(ways, {}, value);  // the first of equal ones
    out.push_back(std::move(*best));
  }
  return out;
}

/// Places the ranks of a job on its devices, once for all ways that are compared.
class Placer {
 public:
  static Result<Placer> Make(const Layout& from, const MeshShape& shape,
                             const CollectionPtr& collection, const std::vector<DeviceId>& devices,
                             const Topology& topology, const StageRule& stages,
                             const std::vector<DeviceId>& lost) {
    TESSERA_RETURN_IF_ERROR(CheckSameTensors(from.collection(), *collection, true));
    std::vector<DeviceId> ascending = devices;
    std::sort(ascending.begin(), ascending.end());
    std::vector<DeviceId> first = ascending;
    const auto num_ranks = static_cast<std::size_t>(shape.num_ranks());
    if (first.size() > num_ranks) first.resize(num_ranks);
    TESSERA_TRY(DeviceMesh trial_mesh, DeviceMesh::Make(shape, std::move(first)));
    TESSERA_TRY(const Layout trial, Layout::Make(std::move(trial_mesh), collection, stages));
    auto problem = std::make_unique<PlacementProblem>(from, trial, ascending, topology, lost);
    return Placer(shape, std::move(ascending), topology, std::move(problem));
  }

  Chosen Best() {
    if (!is_small()) return PlaceBlocks(*problem_, bound_);
    const Chosen chosen = PlaceExactly(*problem_);
    bound_ = InPlace(chosen);
    return chosen;
  }

  std::vector<Chosen> Apart(const Chosen& best) {
    Assign assign;
    if (is_small()) {
      assign = [this](const auto& ranks, const auto& devices) {
        return problem_->Assign(ranks, devices);
      };
    }
    return PlaceApart(shape_, devices_, topology_, best, assign,
                      [this](const Chosen& chosen) { return InPlace(chosen); });
  }

  /// \pre Best has been called
  Result<Placement> Finish(const Chosen& chosen) {
    std::vector<DeviceId> placed;
    for (const int device : chosen) placed.push_back(devices_[At(device)]);
    TESSERA_TRY(DeviceMesh mesh, DeviceMesh::Make(shape_, std::move(placed)));
    return Placement{std::move(mesh), InPlace(chosen), bound_};
  }

 private:
  Placer(const MeshShape& shape, std::vector<DeviceId> devices, const Topology& topology,
         std::unique_ptr<PlacementProblem> problem)
      : shape_(shape),
        devices_(std::move(devices)),
        topology_(topology),
        problem_(std::move(problem)) {}

  bool is_small() const {
    return std::max(static_cast<std::size_t>(shape_.num_ranks()), devices_.size()) <= kExactRanks;
  }
  std::int64_t InPlace(const Chosen& chosen) {
    std::int64_t bytes = 0;
    for (int rank = 0; rank < std::ssize(chosen); ++rank) {
      bytes += problem_->OnDevice(rank, chosen[At(rank)]);
    }
    return bytes;
  }

  MeshShape shape_;
  std::vector<DeviceId> devices_;  // ascending
  Topology topology_;
  std::unique_ptr<PlacementProblem> problem_;
  std::int64_t bound_ = 0;
};

}  // namespace

Result<Placement> FindPlacement(const Layout& from, const MeshShape& shape,
                                const CollectionPtr& collection,
                                const std::vector<DeviceId>& devices, const Topology& topology,
                                const StageRule& stages, const std::vector<DeviceId>& lost) {
  TESSERA_TRY(Placer placer,
              Placer::Make(from, shape, collection, devices, topology, stages, lost));
  return placer.Finish(placer.Best());
}

Result<std::vector<Placement>> FindPlacements(const Layout& from, const MeshShape& shape,
                                              const CollectionPtr& collection,
                                              const std::vector<DeviceId>& devices,
                                              const Topology& topology, const StageRule& stages,
                                              const std::vector<DeviceId>& lost) {
  TESSERA_TRY(Placer placer,
              Placer::Make(from, shape, collection, devices, topology, stages, lost));
  const Chosen best = placer.Best();
  std::vector<Placement> placements;
  TESSERA_TRY(Placement first, placer.Finish(best));
  placements.push_back(std::move(first));
  if (shape[Axis::kDp] == 1) return placements;
  for (const Chosen& apart : placer.Apart(best)) {
    TESSERA_TRY(Placement placement, placer.Finish(apart));
    placements.push_back(std::move(placement));
  }
  return placements;
}

Result<std::vector<DeviceMesh>> NewPlacements(const MeshShape& shape,
                                              const std::vector<DeviceId>& devices,
                                              const Topology& topology) {
  const auto num_ranks = static_cast<std::size_t>(shape.num_ranks());
  Chosen first(std::min(num_ranks, devices.size()));
  std::iota(first.begin(), first.end(), 0);
  std::vector<Chosen> ways = {first};
  if (shape[Axis::kDp] > 1 && num_ranks <= devices.size()) {
    const auto in_order = [](const std::vector<int>& ranks, const std::vector<int>& positions) {
      return Chosen(positions.begin(), positions.begin() + std::ssize(ranks));
    };
    std::ranges::move(PlaceApart(shape, devices, topology, first, in_order,
                                 [](const Chosen&) { return std::int64_t{0}; }),
                      std::back_inserter(ways));
  }
  std::vector<DeviceMesh> meshes;
  for (const Chosen& way : ways) {
    std::vector<DeviceId> placed;
    for (const int device : way) placed.push_back(devices[At(device)]);
    TESSERA_TRY(DeviceMesh mesh, DeviceMesh::Make(shape, std::move(placed)));
    meshes.push_back(std::move(mesh));
  }
  return meshes;
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
