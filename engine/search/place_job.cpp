// SPDX-License-Identifier: Apache-2.0
#include "engine/search/place_job.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "engine/model/job_layout.h"
#include "engine/search/exposure.h"
#include "ptc/base/at.h"
#include "ptc/plan/kinds.h"
#include "ptc/plan/placement.h"

namespace tessera::engine {
namespace {

/// A placement with what it costs.
struct Way {
  ptc::DeviceMesh mesh;
  std::int64_t in_place_bytes = 0;
};

/// At least one, the cheapest first.
Result<std::vector<Way>> WaysOf(const SearchInput& input, const ptc::MeshShape& shape,
                                const ptc::RuledTensors& tensors,
                                const std::vector<ptc::DeviceId>& devices) {
  const ptc::Topology& topology = input.machines.topology;
  std::vector<Way> ways;
  if (!input.layout) {
    TESSERA_TRY(auto meshes, ptc::NewPlacements(shape, devices, topology));
    for (ptc::DeviceMesh& mesh : meshes) ways.push_back({std::move(mesh), 0});
    return ways;
  }
  TESSERA_TRY(const auto stages, StagesOn(tensors.stages, shape));
  TESSERA_TRY(auto placements, ptc::FindPlacements(*input.layout, shape, tensors.tensors, devices,
                                                   topology, stages, input.lost));
  for (ptc::Placement& placement : placements) {
    ways.push_back({std::move(placement.mesh), placement.in_place_bytes});
  }
  return ways;
}

/// The bytes that all ranks of the new layout hold together.
std::int64_t BytesOfRanks(const ptc::Kinds& kinds) {
  std::int64_t bytes = 0;
  for (const ptc::KindOnStages& staged : kinds.staged) {
    const ptc::Kind& kind = kinds.kinds[At(staged.kind)];
    std::vector<std::int64_t> of_part;
    for (const std::vector<ptc::Box>& boxes : kind.pieces.needed) {
      std::int64_t elements = 0;
      for (const ptc::Box& box : boxes) elements += box.num_elements();
      of_part.push_back(elements * ptc::SizeBytes(kind.to_dtype) * staged.num_tensors);
    }
    for (int rank = 0; rank < kinds.to.mesh().num_ranks(); ++rank) {
      if (!kinds.to.IsOn(staged.to_stages, kinds.to.StageOf(rank))) continue;
      bytes += of_part[At(kinds.to.PartOf(kind.to_axes, rank))];
    }
  }
  return bytes;
}

bool IsAboutEqual(double value, double least) { return value <= least * (1 + kEqualSpeed); }

}  // namespace

Result<ptc::DeviceMesh> PlaceJob(const SearchInput& input, const ptc::MeshShape& shape,
                                 const StepOptions& options, const ptc::RuledTensors& tensors,
                                 std::vector<ptc::DeviceId> devices) {
  std::sort(devices.begin(), devices.end());
  TESSERA_TRY(std::vector<Way> ways, WaysOf(input, shape, tensors, devices));
  if (ways.size() == 1) return std::move(ways.front().mesh);
  TESSERA_TRY(const auto cheapest, MakeLayout(tensors, ways.front().mesh));
  const ptc::Kinds kinds = ptc::MakeKinds(cheapest, cheapest);
  const int level = ExposureOf(kinds, cheapest.mesh(), input.machines.topology).level();
  const std::int64_t needed = BytesOfRanks(kinds);
  const auto moved = [&](const Way& way) {
    return input.layout ? static_cast<double>(needed - way.in_place_bytes) : 0;
  };
  const auto seconds = [&](const Way& way) {
    return EstimateStepSeconds(input, way.mesh, options).value_or(0);
  };
  for (std::size_t i = 1; i < ways.size(); ++i) {
    const bool is_better =
        ExposureOf(kinds, ways[i].mesh, input.machines.topology).level() > level &&
        IsAboutEqual(moved(ways[i]), moved(ways.front())) &&
        IsAboutEqual(seconds(ways[i]), seconds(ways.front()));
    if (!is_better) continue;
    if (ways[i].mesh.devices().size() == devices.size()) return std::move(ways[i].mesh);
    // Only these devices are used, and a plan for them must be the same plan.
    return PlaceJob(input, shape, options, tensors, ways[i].mesh.devices());
  }
  return std::move(ways.front().mesh);
}

}  // namespace tessera::engine
