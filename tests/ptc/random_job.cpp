// SPDX-License-Identifier: Apache-2.0
#include "tests/ptc/random_job.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <string>

namespace tessera::test {
namespace {

using ptc::Axis;
using Meshes = std::vector<ptc::MeshShape>;
using Rng = std::mt19937_64;

constexpr std::int64_t kMostElements = 512;

std::int64_t Pick(Rng& rng, std::int64_t count) {
  return static_cast<std::int64_t>(rng() % static_cast<std::uint64_t>(count));
}
bool OneIn(Rng& rng, std::int64_t count) { return Pick(rng, count) == 0; }

std::int64_t PartsOn(const ptc::MeshShape& mesh, const std::vector<Axis>& axes) {
  std::int64_t parts = 1;
  for (Axis axis : axes) parts *= mesh[axis];
  return parts;
}

/// Axes that may cut a tensor, in any order.
std::vector<Axis> AnyAxes(Rng& rng, const ptc::TensorSpec& spec) {
  std::vector<Axis> axes = {Axis::kDp, Axis::kCp, Axis::kTp};
  if (!spec.expert) axes.push_back(Axis::kEp);
  if (spec.place == ptc::StagePlace::kAll) axes.push_back(Axis::kPp);
  std::shuffle(axes.begin(), axes.end(), rng);
  return axes;
}

/// Removes some of `axes` and returns them.
std::vector<Axis> Take(Rng& rng, std::vector<Axis>& axes) {
  std::vector<Axis> taken;
  while (!axes.empty() && OneIn(rng, 2)) {
    taken.push_back(axes.back());
    axes.pop_back();
  }
  return taken;
}

void PlaceAnywhere(Rng& rng, std::int64_t num_layers, ptc::TensorSpec& spec) {
  spec.place = static_cast<ptc::StagePlace>(Pick(rng, 5));
  if (num_layers == 0 && spec.place == ptc::StagePlace::kLayer) spec.place = ptc::StagePlace::kAll;
  if (spec.place == ptc::StagePlace::kLayer) spec.layer = Pick(rng, num_layers);
}

/// Numbers of heads that can be divided on all meshes, if a few tries find some.
std::optional<ptc::HeadGroups> AnyHeads(Rng& rng, const Meshes& meshes,
                                        const std::vector<Axis>& axes) {
  constexpr std::array<std::int64_t, 6> kKv = {1, 2, 3, 4, 5, 6};
  constexpr std::array<std::int64_t, 5> kGroup = {1, 2, 3, 4, 6};
  for (int i = 0; i < 6; ++i) {
    ptc::HeadGroups heads;
    heads.kv = kKv[static_cast<std::size_t>(Pick(rng, 6))];
    heads.query = heads.kv * kGroup[static_cast<std::size_t>(Pick(rng, 5))];
    heads.of_query = OneIn(rng, 2);
    const bool fit = std::all_of(meshes.begin(), meshes.end(), [&](const ptc::MeshShape& mesh) {
      const std::int64_t parts = PartsOn(mesh, axes);
      return parts <= heads.kv || (parts % heads.kv == 0 && heads.query % parts == 0);
    });
    if (fit) return heads;
  }
  return std::nullopt;
}

struct SizedCut {
  ptc::DimCut cut;
  std::int64_t size;
};
/// A cut along these axes, and a size that it can divide on all meshes.
SizedCut AnyCut(Rng& rng, const Meshes& meshes, std::vector<Axis> axes) {
  SizedCut out{{std::move(axes)}, 0};
  std::int64_t unit = 1;
  std::int64_t most = 7;
  switch (Pick(rng, 3)) {
    case 0:
      for (const ptc::MeshShape& mesh : meshes) unit = std::lcm(unit, PartsOn(mesh, out.cut.axes));
      most = unit > 1 ? 2 : most;
      break;
    case 1:
      if (const auto heads = AnyHeads(rng, meshes, out.cut.axes)) {
        out.cut.split = ptc::Split::kHeads;
        out.cut.heads = heads;
        unit = heads->of_query ? heads->query : heads->kv;
        most = 2;
        break;
      }
      [[fallthrough]];
    default:
      out.cut.split = ptc::Split::kCeil;
      if (OneIn(rng, 2)) out.cut.multiple = 1 + Pick(rng, 4);
  }
  out.size = OneIn(rng, 16) ? 0 : unit * (1 + Pick(rng, most));
  return out;
}

/// A dim of up to three fused segments, some with their own cut along the same axes.
void Fuse(Rng& rng, const Meshes& meshes, std::size_t dim, ptc::TensorSpec& spec) {
  spec.segments = ptc::Segments{static_cast<int>(dim), {}};
  const std::vector<Axis> axes = spec.rule.dims[dim].axes;
  const std::int64_t unit = spec.shape[dim];
  spec.shape[dim] = 0;
  for (std::int64_t s = 1 + Pick(rng, 3); s > 0; --s) {
    ptc::Segment segment{OneIn(rng, 8) ? 0 : unit};  // a size that the cut of the dim divides
    if (OneIn(rng, 2)) {
      const bool whole = OneIn(rng, 3);  // replicated beside segments that are cut
      SizedCut own = AnyCut(rng, meshes, whole ? std::vector<Axis>{} : axes);
      segment = {own.size, std::move(own.cut)};
    }
    spec.shape[dim] += segment.size;
    spec.segments->blocks.push_back(std::move(segment));
  }
}

void FlattenAnyhow(Rng& rng, std::vector<Axis>& axes, ptc::ShardRule& rule) {
  rule.flat.clear();
  rule.bucket.clear();
  if (axes.empty() || !OneIn(rng, 3)) return;
  rule.flat.push_back(axes.back());
  axes.pop_back();
  if (!axes.empty() && OneIn(rng, 3)) rule.flat.push_back(axes.back());
  // Few names and mostly one axis, so that buckets have members.
  if (OneIn(rng, 2)) rule.bucket = OneIn(rng, 3) ? "b" : "a";
}

ptc::TensorSpec AnyTensor(Rng& rng, const Meshes& meshes, std::int64_t num_layers) {
  constexpr std::array kDTypes = {ptc::DType::kU8, ptc::DType::kBF16, ptc::DType::kF32,
                                  ptc::DType::kF64};
  ptc::TensorSpec spec;
  spec.dtype = kDTypes[static_cast<std::size_t>(Pick(rng, 4))];
  PlaceAnywhere(rng, num_layers, spec);
  if (OneIn(rng, 6)) {
    spec.expert = ptc::ExpertIndex{0, 1 + Pick(rng, 6)};
    spec.expert->index = Pick(rng, spec.expert->count);
  }
  std::vector<Axis> axes = AnyAxes(rng, spec);
  const auto rank = static_cast<std::size_t>(Pick(rng, 4));
  for (std::size_t d = 0; d < rank; ++d) {
    SizedCut dim = AnyCut(rng, meshes, Take(rng, axes));
    spec.rule.dims.push_back(std::move(dim.cut));
    spec.shape.push_back(dim.size);
    if (!spec.segments && OneIn(rng, 4)) Fuse(rng, meshes, d, spec);
  }
  FlattenAnyhow(rng, axes, spec.rule);
  return spec;
}

}  // namespace

ptc::MeshShape AnyMesh(Rng& rng, std::int64_t max_ranks) {
  ptc::MeshShape mesh;
  for (int i = 0; i < 4; ++i) {
    // dp, tp and pp more often than ep and cp
    constexpr std::array<Axis, 8> kPick = {Axis::kDp, Axis::kTp, Axis::kPp, Axis::kDp,
                                           Axis::kTp, Axis::kPp, Axis::kEp, Axis::kCp};
    const Axis axis = kPick[static_cast<std::size_t>(Pick(rng, 8))];
    const std::int64_t degree = 1 + Pick(rng, 4);
    const std::int64_t old = mesh[axis];
    mesh[axis] = degree;
    if (mesh.num_ranks() > max_ranks) mesh[axis] = old;
  }
  return mesh;
}

ptc::DeviceMesh OnAnyDevices(Rng& rng, const ptc::MeshShape& mesh) {
  std::vector<ptc::DeviceId> pool;
  for (std::int32_t node = 0; node < 3; ++node) {
    for (std::int32_t index = 0; index < 5; ++index) pool.push_back({node, index});
  }
  if (OneIn(rng, 2)) std::shuffle(pool.begin(), pool.end(), rng);
  pool.resize(static_cast<std::size_t>(mesh.num_ranks()));
  return *ptc::DeviceMesh::Make(mesh, pool);
}

ptc::StageRule AnyStages(Rng& rng, std::int64_t num_layers, std::int64_t num_stages) {
  ptc::StageRule rule;
  switch (Pick(rng, 5)) {
    case 0:
      rule.interleave = 2 + Pick(rng, 2);
      break;
    case 1:
      rule.kind = ptc::StageRule::Kind::kExplicit;
      for (std::int64_t layer = 0; layer < num_layers; ++layer) {
        rule.stage_of_layer.push_back(Pick(rng, num_stages));
      }
      break;
    case 2:
      rule.kind = ptc::StageRule::Kind::kBalanced;
      break;
    default:
      break;
  }
  return rule;
}

std::vector<ptc::TensorSpec> AnyTensors(Rng& rng, const Meshes& meshes, std::int64_t num_layers) {
  std::vector<ptc::TensorSpec> tensors;
  for (std::int64_t t = 1 + Pick(rng, 4); t > 0; --t) {
    ptc::TensorSpec spec = AnyTensor(rng, meshes, num_layers);
    while (*ptc::NumElements(spec.shape) > kMostElements) {
      spec = AnyTensor(rng, meshes, num_layers);
    }
    spec.name = "t" + std::to_string(t);
    if (OneIn(rng, 8)) spec.aliases = {spec.name + ".tied"};
    tensors.push_back(spec);
    if (!OneIn(rng, 3)) continue;
    spec.name += ".again";  // a second tensor of the same class, or nearly so
    spec.aliases.clear();
    if (spec.segments) std::ranges::reverse(spec.segments->blocks);
    if (num_layers > 0 && spec.place == ptc::StagePlace::kLayer) {
      spec.layer = Pick(rng, num_layers);
    }
    tensors.push_back(std::move(spec));
  }
  return tensors;
}

void Recut(Rng& rng, const ptc::MeshShape& mesh, std::int64_t num_layers,
           std::vector<ptc::TensorSpec>& tensors) {
  for (ptc::TensorSpec& spec : tensors) {
    if (OneIn(rng, 2)) continue;
    if (OneIn(rng, 2)) {  // ZeRO on or off
      const auto by_dp = [](const ptc::DimCut& cut) {
        return std::ranges::count(cut.axes, Axis::kDp) > 0;
      };
      bool cut_by_dp = std::ranges::any_of(spec.rule.dims, by_dp);
      if (spec.segments) {
        for (const ptc::Segment& segment : spec.segments->blocks) {
          cut_by_dp = cut_by_dp || (segment.cut && by_dp(*segment.cut));
        }
      }
      const bool is_off = spec.rule.flat.empty() && !cut_by_dp;
      spec.rule.bucket.clear();
      spec.rule.flat = is_off ? std::vector{Axis::kDp} : std::vector<Axis>{};
      continue;
    }
    PlaceAnywhere(rng, num_layers, spec);
    if (OneIn(rng, 2)) spec.segments.reset();
    std::vector<Axis> axes = AnyAxes(rng, spec);
    spec.rule.dims.clear();
    for (std::int64_t size : spec.shape) {
      ptc::DimCut& cut = spec.rule.dims.emplace_back(ptc::DimCut{Take(rng, axes)});
      const bool is_even = size % PartsOn(mesh, cut.axes) == 0 && !spec.segments;
      if (is_even && OneIn(rng, 2)) continue;
      cut.split = ptc::Split::kCeil;
      cut.multiple = 1 + Pick(rng, 3);
    }
    if (spec.segments) {  // sizes stay; own cuts may name axes that now cut other dims
      for (ptc::Segment& segment : spec.segments->blocks) segment.cut.reset();
    }
    FlattenAnyhow(rng, axes, spec.rule);
  }
}

std::vector<ptc::Layout> AnyHistory(Rng& rng, std::size_t count) {
  Meshes meshes{AnyMesh(rng)};
  while (meshes.size() < count) meshes.push_back(OneIn(rng, 8) ? meshes.back() : AnyMesh(rng));
  const std::int64_t num_layers = Pick(rng, 6);
  std::vector<ptc::TensorSpec> tensors = AnyTensors(rng, meshes, num_layers);
  std::vector<ptc::Layout> layouts;
  for (const ptc::MeshShape& mesh : meshes) {
    if (!layouts.empty() && OneIn(rng, 2)) {
      // A dim with a new cut is checked again for the later meshes.
      std::vector<ptc::TensorSpec> recut = tensors;
      Recut(rng, mesh, num_layers, recut);
      layouts.push_back(*ptc::Layout::Make(OnAnyDevices(rng, mesh),
                                           *ptc::Collection::Make(std::move(recut), num_layers),
                                           AnyStages(rng, num_layers, mesh[Axis::kPp])));
      continue;
    }
    layouts.push_back(*ptc::Layout::Make(OnAnyDevices(rng, mesh),
                                         *ptc::Collection::Make(tensors, num_layers),
                                         AnyStages(rng, num_layers, mesh[Axis::kPp])));
  }
  return layouts;
}

ptc::Layout AnyLayout(Rng& rng) { return AnyHistory(rng, 1).front(); }

Job AnyJob(Rng& rng) {
  std::vector<ptc::Layout> layouts = AnyHistory(rng, 2);
  return {std::move(layouts[0]), std::move(layouts[1])};
}

}  // namespace tessera::test
