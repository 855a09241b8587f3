// SPDX-License-Identifier: Apache-2.0
#include "tests/ptc/oracle.h"

#include <algorithm>
#include <array>
#include <numeric>

namespace tessera::test {
namespace {

using ptc::Axis;

/// Coordinates of all axes, by counting up from rank 0 with tp as the fastest digit.
std::array<std::int64_t, ptc::kNumAxes> CoordinatesOf(const ptc::MeshShape& mesh, int rank) {
  std::array<std::int64_t, ptc::kNumAxes> at{};
  for (int r = 0; r < rank; ++r) {
    for (std::size_t axis = ptc::kNumAxes; axis-- > 0;) {
      if (++at[axis] < mesh.sizes[axis]) break;
      at[axis] = 0;
    }
  }
  return at;
}

/// Stage of each layer: deal the layers out, the first stages get one more.
std::vector<std::int64_t> StagesOf(std::int64_t num_layers, std::int64_t num_stages) {
  std::vector<std::int64_t> stages;
  for (std::int64_t stage = 0; stage < num_stages; ++stage) {
    const std::int64_t extra = stage < num_layers % num_stages ? 1 : 0;
    stages.insert(stages.end(), static_cast<std::size_t>(num_layers / num_stages + extra), stage);
  }
  return stages;
}

bool StageHolds(const ptc::TensorSpec& spec, std::int64_t num_layers, std::int64_t stage,
                std::int64_t num_stages) {
  switch (spec.place) {
    case ptc::StagePlace::kLayer:
      return StagesOf(num_layers, num_stages)[static_cast<std::size_t>(spec.layer)] == stage;
    case ptc::StagePlace::kFirst:
      return stage == 0;
    case ptc::StagePlace::kLast:
      return stage + 1 == num_stages;
    case ptc::StagePlace::kFirstAndLast:
      return stage == 0 || stage + 1 == num_stages;
    case ptc::StagePlace::kAll:
      return true;
  }
  return false;
}

/// Whether position x of a dim belongs to the rank: count the parts of x's segment up to x.
bool HoldsPosition(const ptc::TensorSpec& spec, std::size_t dim, std::int64_t x,
                   const ptc::MeshShape& mesh, const std::array<std::int64_t, ptc::kNumAxes>& at) {
  std::int64_t degree = 1;
  std::int64_t mine = 0;
  for (Axis axis : spec.rule.dims[dim]) {
    const auto a = static_cast<std::size_t>(axis);
    degree *= mesh.sizes[a];
    mine = mine * mesh.sizes[a] + at[a];
  }
  std::int64_t size = spec.shape[dim];
  if (spec.segments && static_cast<std::size_t>(spec.segments->dim) == dim) {
    for (std::int64_t segment : spec.segments->sizes) {
      size = segment;
      if (x < segment) break;
      x -= segment;
    }
  }
  if (spec.rule.split == ptc::Split::kEven) return x * degree / size == mine;
  std::int64_t part = 0;  // by counting: each part takes as many as the fullest may have
  for (std::int64_t left = (size + degree - 1) / degree; x >= left; x -= left) ++part;
  return part == mine;
}

/// Which segment of its fused dim an element is in; 0 where there are none.
std::size_t SegmentOf(const ptc::TensorSpec& spec, std::size_t element) {
  if (!spec.segments) return 0;
  for (std::size_t d = spec.shape.size() - 1; d > static_cast<std::size_t>(spec.segments->dim);
       --d) {
    element /= static_cast<std::size_t>(spec.shape[d]);
  }
  auto x =
      static_cast<std::int64_t>(element) % spec.shape[static_cast<std::size_t>(spec.segments->dim)];
  std::size_t segment = 0;
  for (; x >= spec.segments->sizes[segment]; ++segment) x -= spec.segments->sizes[segment];
  return segment;
}

/// Leaves the rank its share of the elements marked in `held`: deals them out one by one, segment
/// after segment, ceil(all / parts) to each part.
void KeepFlatPart(const ptc::TensorSpec& spec, std::int64_t part, std::int64_t parts,
                  std::vector<bool>& held) {
  const auto all = std::count(held.begin(), held.end(), true);
  std::vector<std::size_t> order;
  const std::size_t segments = spec.segments ? spec.segments->sizes.size() : 1;
  for (std::size_t segment = 0; segment < segments; ++segment) {
    for (std::size_t i = 0; i < held.size(); ++i) {
      if (held[i] && SegmentOf(spec, i) == segment) order.push_back(i);
    }
  }
  const std::int64_t most = (all + parts - 1) / parts;
  for (std::size_t at = 0; at < order.size(); ++at) {
    held[order[at]] = static_cast<std::int64_t>(at) / most == part;
  }
}

std::size_t Pick(std::mt19937_64& rng, std::size_t count) { return rng() % count; }

ptc::MeshShape AnyMesh(std::mt19937_64& rng, std::int64_t max_ranks) {
  ptc::MeshShape mesh;
  for (int i = 0; i < 4; ++i) {
    // dp, tp and pp more often than ep and cp
    constexpr std::array<Axis, 8> kPick = {Axis::kDp, Axis::kTp, Axis::kPp, Axis::kDp,
                                           Axis::kTp, Axis::kPp, Axis::kEp, Axis::kCp};
    const Axis axis = kPick[Pick(rng, kPick.size())];
    const auto degree = static_cast<std::int64_t>(1 + Pick(rng, 4));
    const std::int64_t old = mesh[axis];
    mesh[axis] = degree;
    if (mesh.num_ranks() > max_ranks) mesh[axis] = old;
  }
  return mesh;
}

ptc::DeviceMesh OnAnyDevices(std::mt19937_64& rng, const ptc::MeshShape& mesh) {
  std::vector<ptc::DeviceId> pool;
  for (std::int32_t node = 0; node < 3; ++node) {
    for (std::int32_t index = 0; index < 5; ++index) pool.push_back({node, index});
  }
  const bool shuffled = Pick(rng, 2) == 0;
  if (shuffled) std::shuffle(pool.begin(), pool.end(), rng);
  pool.resize(static_cast<std::size_t>(mesh.num_ranks()));
  return *ptc::DeviceMesh::Make(mesh, pool);
}

/// Axes that may cut a tensor of this place, in any order.
std::vector<Axis> AnyAxes(std::mt19937_64& rng, ptc::StagePlace place) {
  std::vector<Axis> axes = {Axis::kDp, Axis::kEp, Axis::kCp, Axis::kTp};
  if (place == ptc::StagePlace::kAll) axes.push_back(Axis::kPp);
  std::shuffle(axes.begin(), axes.end(), rng);
  return axes;
}

void PlaceAnywhere(std::mt19937_64& rng, std::int64_t num_layers, ptc::TensorSpec& spec) {
  spec.place = static_cast<ptc::StagePlace>(Pick(rng, 5));
  if (num_layers == 0 && spec.place == ptc::StagePlace::kLayer) spec.place = ptc::StagePlace::kAll;
  if (spec.place == ptc::StagePlace::kLayer) {
    spec.layer = static_cast<std::int64_t>(Pick(rng, static_cast<std::size_t>(num_layers)));
  }
}

/// Cuts each dim by some of `axes`, which it takes out, and maybe flat by one of the rest.
ptc::ShardRule AnyRule(std::mt19937_64& rng, std::size_t rank, std::vector<Axis> axes) {
  ptc::ShardRule rule;
  rule.dims.resize(rank);
  for (std::vector<Axis>& dim : rule.dims) {
    while (!axes.empty() && Pick(rng, 2) == 0) {
      dim.push_back(axes.back());
      axes.pop_back();
    }
  }
  if (Pick(rng, 3) == 0) rule.split = ptc::Split::kCeil;
  if (!axes.empty() && Pick(rng, 3) == 0) rule.flat = axes.back();
  return rule;
}

ptc::TensorSpec AnyTensor(std::mt19937_64& rng, const ptc::MeshShape& a, const ptc::MeshShape& b,
                          std::int64_t num_layers) {
  constexpr std::array kDTypes = {ptc::DType::kU8, ptc::DType::kBF16, ptc::DType::kF32,
                                  ptc::DType::kF64};
  ptc::TensorSpec spec;
  spec.dtype = kDTypes[Pick(rng, kDTypes.size())];
  PlaceAnywhere(rng, num_layers, spec);
  const std::size_t rank = Pick(rng, 4);
  spec.rule = AnyRule(rng, rank, AnyAxes(rng, spec.place));
  for (std::size_t d = 0; d < rank; ++d) {
    std::int64_t cut_a = 1;
    std::int64_t cut_b = 1;
    for (Axis axis : spec.rule.dims[d]) {
      cut_a *= a[axis];
      cut_b *= b[axis];
    }
    const bool ragged = spec.rule.split == ptc::Split::kCeil;
    const std::int64_t unit = ragged ? 1 : std::lcm(cut_a, cut_b);
    const std::size_t most = ragged ? 11 : 3;
    const auto units = static_cast<std::int64_t>(Pick(rng, 24) == 0 ? 0 : 1 + Pick(rng, most));
    spec.shape.push_back(units * unit);
    if (!spec.segments && Pick(rng, 3) == 0) {  // q|k|v and the like, of any sizes
      ptc::Segments segments{static_cast<int>(d), {}};
      const std::size_t count = 1 + Pick(rng, 3);
      std::int64_t sum = 0;
      for (std::size_t s = 0; s < count; ++s) {
        segments.sizes.push_back(static_cast<std::int64_t>(Pick(rng, ragged ? 6 : 3)) * unit);
        sum += segments.sizes.back();
      }
      spec.shape.back() = sum;
      spec.segments = segments;
    }
  }
  return spec;
}

/// The same tensor under another rule: ZeRO switched, other stages, or cut quite differently.
void Recut(std::mt19937_64& rng, std::int64_t num_layers, ptc::TensorSpec& spec) {
  if (Pick(rng, 2) == 0) {
    const auto& dims = spec.rule.dims;
    const auto by_dp = [](const auto& axes) { return std::ranges::count(axes, Axis::kDp) > 0; };
    spec.rule.flat = spec.rule.flat || std::any_of(dims.begin(), dims.end(), by_dp)
                         ? std::nullopt
                         : std::optional(Axis::kDp);
    return;
  }
  PlaceAnywhere(rng, num_layers, spec);
  spec.rule = AnyRule(rng, spec.shape.size(), AnyAxes(rng, spec.place));
  spec.rule.split = ptc::Split::kCeil;  // sizes suit the even cuts of the old rule only
  if (Pick(rng, 2) == 0) spec.segments.reset();
}

}  // namespace

std::vector<bool> HeldElements(const ptc::Layout& layout, int rank, int tensor) {
  const ptc::MeshShape& mesh = layout.mesh().shape();
  const ptc::Collection& collection = layout.collection();
  const ptc::TensorSpec& spec = collection.tensors()[static_cast<std::size_t>(tensor)];
  std::size_t count = 1;
  for (std::int64_t size : spec.shape) count *= static_cast<std::size_t>(size);
  const auto at = CoordinatesOf(mesh, rank);
  std::vector<bool> held(count);
  if (!StageHolds(spec, collection.num_layers(), at[0], mesh.sizes[0])) return held;
  for (std::size_t i = 0; i < count; ++i) {
    std::size_t rest = i;
    bool holds = true;
    for (std::size_t d = spec.shape.size(); d-- > 0;) {
      const auto size = static_cast<std::size_t>(spec.shape[d]);
      holds = holds && HoldsPosition(spec, d, static_cast<std::int64_t>(rest % size), mesh, at);
      rest /= size;
    }
    held[i] = holds;
  }
  if (const auto& flat = spec.rule.flat) {
    const auto axis = static_cast<std::size_t>(*flat);
    KeepFlatPart(spec, at[axis], mesh.sizes[axis], held);
  }
  return held;
}

std::vector<std::size_t> ElementsOf(const ptc::Shape& shape, const ptc::Box& box) {
  std::vector<std::size_t> elements{0};
  for (int d = 0; d < box.rank(); ++d) {
    std::vector<std::size_t> next;
    for (std::size_t prefix : elements) {
      for (std::int64_t x = box[d].begin; x < box[d].end; ++x) {
        next.push_back(prefix * static_cast<std::size_t>(shape[static_cast<std::size_t>(d)]) +
                       static_cast<std::size_t>(x));
      }
    }
    elements = std::move(next);
  }
  return elements;
}

Job AnyJob(std::mt19937_64& rng) {
  const ptc::MeshShape a = AnyMesh(rng, 12);
  const ptc::MeshShape b = Pick(rng, 8) == 0 ? a : AnyMesh(rng, 12);
  const auto num_layers = static_cast<std::int64_t>(Pick(rng, 6));
  std::vector<ptc::TensorSpec> tensors;
  const std::size_t count = 1 + Pick(rng, 4);
  for (std::size_t t = 0; t < count; ++t) {
    tensors.push_back(AnyTensor(rng, a, b, num_layers));
    tensors.back().name = "t" + std::to_string(t);
    if (Pick(rng, 3) == 0) {  // a second tensor of the same class
      tensors.push_back(tensors.back());
      tensors.back().name += ".again";
      if (auto& segments = tensors.back().segments) {  // or nearly so
        std::reverse(segments->sizes.begin(), segments->sizes.end());
      }
    }
  }
  const ptc::CollectionPtr before = *ptc::Collection::Make(tensors, num_layers);
  ptc::CollectionPtr after = before;
  if (Pick(rng, 2) == 0) {
    for (ptc::TensorSpec& spec : tensors) {
      if (Pick(rng, 2) == 0) Recut(rng, num_layers, spec);
    }
    after = *ptc::Collection::Make(std::move(tensors), num_layers);
  }
  return {*ptc::Layout::Make(OnAnyDevices(rng, a), before),
          *ptc::Layout::Make(OnAnyDevices(rng, b), after)};
}

}  // namespace tessera::test
