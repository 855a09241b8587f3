// SPDX-License-Identifier: Apache-2.0
#include "tests/ptc/oracle.h"

#include <algorithm>
#include <array>

namespace tessera::test {
namespace {

using ptc::Axis;
using At = std::array<std::int64_t, ptc::kNumAxes>;

/// Coordinates of all axes, by counting up from rank 0 with tp as the fastest digit.
At CoordinatesOf(const ptc::MeshShape& mesh, int rank) {
  At at{};
  for (int r = 0; r < rank; ++r) {
    for (std::size_t axis = ptc::kNumAxes; axis-- > 0;) {
      if (++at[axis] < mesh.sizes[axis]) break;
      at[axis] = 0;
    }
  }
  return at;
}

/// The stage of each layer: layers are dealt into chunks, the first of which get one more, and
/// chunks to the stages in turn.
std::vector<std::int64_t> StagesOf(const ptc::Layout& layout) {
  const ptc::StageRule& rule = layout.stage_rule();
  if (rule.kind == ptc::StageRule::Kind::kExplicit) return rule.stage_of_layer;
  if (rule.kind == ptc::StageRule::Kind::kBalanced) return layout.stage_of_layer();
  const std::int64_t num_layers = layout.collection().num_layers();
  const std::int64_t num_stages = layout.mesh().shape().sizes[0];
  const std::int64_t chunks = num_stages * rule.interleave;
  std::vector<std::int64_t> stages;
  for (std::int64_t chunk = 0; chunk < chunks; ++chunk) {
    const std::int64_t extra = chunk < num_layers % chunks ? 1 : 0;
    stages.insert(stages.end(), static_cast<std::size_t>(num_layers / chunks + extra),
                  chunk % num_stages);
  }
  return stages;
}

bool StageHolds(const ptc::Layout& layout, const ptc::TensorSpec& spec, std::int64_t stage) {
  const std::int64_t last = layout.mesh().shape().sizes[0] - 1;
  switch (spec.place) {
    case ptc::StagePlace::kLayer:
      return StagesOf(layout)[static_cast<std::size_t>(spec.layer)] == stage;
    case ptc::StagePlace::kFirst:
      return stage == 0;
    case ptc::StagePlace::kLast:
      return stage == last;
    case ptc::StagePlace::kFirstAndLast:
      return stage == 0 || stage == last;
    case ptc::StagePlace::kAll:
      return true;
  }
  return false;
}

/// The number of the rank among the parts that some axes make, and the number of parts.
struct Part {
  std::int64_t mine = 0;
  std::int64_t count = 1;
};
Part PartAlong(const std::vector<Axis>& axes, const ptc::MeshShape& mesh, const At& at) {
  Part part;
  for (Axis axis : axes) {
    const auto a = static_cast<std::size_t>(axis);
    part.count *= mesh.sizes[a];
    part.mine = part.mine * mesh.sizes[a] + at[a];
  }
  return part;
}

/// Deals `size` things in order, to each part as many as the fullest may have. Returns the part of
/// x.
std::int64_t Dealt(std::int64_t x, std::int64_t size, std::int64_t parts, std::int64_t multiple) {
  std::int64_t most = (size + parts - 1) / parts;
  while (most % multiple != 0) ++most;
  std::int64_t part = 0;
  for (; x >= most; x -= most) ++part;
  return part;
}

/// Whether a part has the key and value head `kv`, and its query head number `query`.
bool HoldsHead(const ptc::HeadGroups& heads, std::int64_t kv, std::int64_t query, Part part) {
  if (part.count > heads.kv) {
    const std::int64_t replicas = part.count / heads.kv;
    if (part.mine / replicas != kv) return false;
    return !heads.of_query || query * part.count / heads.query == part.mine;
  }
  // The part whose number is the last with floor(number * heads / parts) <= kv.
  std::int64_t owner = 0;
  for (std::int64_t t = 0; t < part.count; ++t) {
    if (t * heads.kv / part.count <= kv) owner = t;
  }
  return owner == part.mine;
}

/// Whether position x of `size` belongs to the rank.
bool HoldsPosition(const ptc::DimCut& cut, std::int64_t x, std::int64_t size,
                   const ptc::MeshShape& mesh, const At& at) {
  const Part part = PartAlong(cut.axes, mesh, at);
  if (part.count == 1) return true;
  switch (cut.split) {
    case ptc::Split::kEven:
      return x * part.count / size == part.mine;
    case ptc::Split::kCeil:
      return Dealt(x, size, part.count, cut.multiple) == part.mine;
    case ptc::Split::kHeads:
      break;
  }
  const ptc::HeadGroups& heads = *cut.heads;
  const std::int64_t head = x / (size / (heads.of_query ? heads.query : heads.kv));
  const std::int64_t kv = heads.of_query ? head / (heads.query / heads.kv) : head;
  return HoldsHead(heads, kv, head, part);
}

/// Position `x` of dim `dim`: first find its segment.
bool HoldsInDim(const ptc::TensorSpec& spec, std::size_t dim, std::int64_t x,
                const ptc::MeshShape& mesh, const At& at) {
  const ptc::DimCut& whole = spec.rule.dims[dim];
  if (!spec.segments || static_cast<std::size_t>(spec.segments->dim) != dim) {
    return HoldsPosition(whole, x, spec.shape[dim], mesh, at);
  }
  for (const ptc::Segment& segment : spec.segments->blocks) {
    if (x < segment.size) {
      return HoldsPosition(segment.cut ? *segment.cut : whole, x, segment.size, mesh, at);
    }
    x -= segment.size;
  }
  return false;
}

/// The segment of its fused dim that an element is in; 0 if there are no segments.
std::size_t SegmentOf(const ptc::TensorSpec& spec, std::size_t element) {
  if (!spec.segments) return 0;
  for (std::size_t d = spec.shape.size() - 1; d > static_cast<std::size_t>(spec.segments->dim);
       --d) {
    element /= static_cast<std::size_t>(spec.shape[d]);
  }
  auto x =
      static_cast<std::int64_t>(element) % spec.shape[static_cast<std::size_t>(spec.segments->dim)];
  std::size_t segment = 0;
  for (; x >= spec.segments->blocks[segment].size; ++segment) {
    x -= spec.segments->blocks[segment].size;
  }
  return segment;
}

/// The elements that stages and cuts leave on the rank, before any flat cut.
std::vector<bool> LeftByCuts(const ptc::Layout& layout, const ptc::TensorSpec& spec, const At& at) {
  const ptc::MeshShape& mesh = layout.mesh().shape();
  std::size_t count = 1;
  for (std::int64_t size : spec.shape) count *= static_cast<std::size_t>(size);
  std::vector<bool> held(count);
  if (!StageHolds(layout, spec, at[0])) return held;
  if (spec.expert) {
    const auto ep = static_cast<std::size_t>(Axis::kEp);
    if (Dealt(spec.expert->index, spec.expert->count, mesh.sizes[ep], 1) != at[ep]) return held;
  }
  for (std::size_t i = 0; i < count; ++i) {
    std::size_t rest = i;
    bool holds = true;
    for (std::size_t d = spec.shape.size(); holds && d-- > 0;) {
      const auto size = static_cast<std::size_t>(spec.shape[d]);
      holds = HoldsInDim(spec, d, static_cast<std::int64_t>(rest % size), mesh, at);
      rest /= size;
    }
    held[i] = holds;
  }
  return held;
}

/// The marked elements, segment after segment.
std::vector<std::size_t> InOrder(const ptc::TensorSpec& spec, const std::vector<bool>& held) {
  std::vector<std::size_t> order;
  const std::size_t segments = spec.segments ? spec.segments->blocks.size() : 1;
  for (std::size_t segment = 0; segment < segments; ++segment) {
    for (std::size_t i = 0; i < held.size(); ++i) {
      if (held[i] && SegmentOf(spec, i) == segment) order.push_back(i);
    }
  }
  return order;
}

/// Whether two tensors are laid end to end before they are cut flat.
bool InOneBucket(const ptc::TensorSpec& a, const ptc::TensorSpec& b) {
  if (a.name == b.name) return true;
  return !a.rule.bucket.empty() && a.rule.bucket == b.rule.bucket && a.dtype == b.dtype &&
         a.rule.flat == b.rule.flat;
}

}  // namespace

std::vector<bool> HeldElements(const ptc::Layout& layout, int rank, int tensor) {
  const auto& tensors = layout.collection().tensors();
  const ptc::TensorSpec& spec = tensors[static_cast<std::size_t>(tensor)];
  const At at = CoordinatesOf(layout.mesh().shape(), rank);
  std::vector<bool> held = LeftByCuts(layout, spec, at);
  const Part part = PartAlong(spec.rule.flat, layout.mesh().shape(), at);
  if (part.count == 1) return held;
  // Deals the elements of the whole bucket one by one, and keeps those of this tensor.
  std::int64_t start = 0;
  std::int64_t all = 0;
  for (const ptc::TensorSpec& other : tensors) {
    if (!InOneBucket(spec, other)) continue;
    if (other.name == spec.name) start = all;
    const std::vector<bool> left = LeftByCuts(layout, other, at);
    all += std::count(left.begin(), left.end(), true);
  }
  const std::vector<std::size_t> order = InOrder(spec, held);
  for (std::size_t i = 0; i < order.size(); ++i) {
    held[order[i]] = Dealt(start + static_cast<std::int64_t>(i), all, part.count, 1) == part.mine;
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

}  // namespace tessera::test
