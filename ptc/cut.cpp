// SPDX-License-Identifier: Apache-2.0
#include "ptc/cut.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

namespace tessera::ptc {
namespace {

/// The elements of the heads that part `part` of `parts` holds; see HeadGroups.
Interval HeadRange(const HeadGroups& heads, std::int64_t size, std::int64_t part,
                   std::int64_t parts) {
  const std::int64_t head = size / (heads.of_query ? heads.query : heads.kv);
  if (parts <= heads.kv) {
    const std::int64_t first = part * heads.kv / parts;
    const std::int64_t last = (part + 1) * heads.kv / parts;
    const std::int64_t each = heads.of_query ? heads.query / heads.kv * head : head;
    return {first * each, last * each};
  }
  if (heads.of_query) {
    const std::int64_t each = heads.query / parts * head;
    return {part * each, (part + 1) * each};
  }
  const std::int64_t kv = part * heads.kv / parts;
  return {kv * head, (kv + 1) * head};
}

/// "axis tp = 4" or "axes dp*tp = 8"; axes of degree 1 are left out.
std::string DescribeAxes(const MeshShape& mesh, const std::vector<Axis>& axes) {
  std::string names;
  int count = 0;
  for (Axis axis : axes) {
    if (mesh[axis] == 1) continue;
    if (count++ > 0) names += '*';
    names += ToString(axis);
  }
  return fmt::format("{} {} = {}", count > 1 ? "axes" : "axis", names, Degree(mesh, axes));
}

using Dims = std::array<Interval, kMaxRank>;

/// Calls `visit` with the dims of each box that the cuts leave, in ascending order.
template <typename Visit>
void ForEachCutBox(const MeshShape& mesh, const TensorSpec& spec, const Coordinates& at,
                   Visit visit) {
  if (!HoldsExpert(mesh, spec, at)) return;
  const Segments* fused = spec.segments ? &*spec.segments : nullptr;
  Dims dims{};
  for (std::size_t d = 0; d < spec.shape.size(); ++d) {
    if (fused != nullptr && fused->dim == static_cast<int>(d)) continue;
    dims[d] = CutRange(mesh, spec.rule.dims[d], spec.shape[d], at);
    if (dims[d].size() == 0) return;
  }
  if (fused == nullptr) return visit(dims);
  const auto dim = static_cast<std::size_t>(fused->dim);
  std::int64_t start = 0;
  for (const Segment& segment : fused->blocks) {
    const DimCut& cut = segment.cut ? *segment.cut : spec.rule.dims[dim];
    const Interval part = CutRange(mesh, cut, segment.size, at);
    dims[dim] = {start + part.begin, start + part.end};
    if (part.size() > 0) visit(dims);
    start += segment.size;
  }
}

}  // namespace

std::int64_t Degree(const MeshShape& mesh, const std::vector<Axis>& axes) {
  std::int64_t degree = 1;
  for (Axis axis : axes) degree *= mesh[axis];
  return degree;
}

std::int64_t PartOf(const MeshShape& mesh, const std::vector<Axis>& axes, const Coordinates& at) {
  std::int64_t part = 0;
  for (Axis axis : axes) part = part * mesh[axis] + at[static_cast<std::size_t>(axis)];
  return part;
}

bool NextCoordinates(const MeshShape& mesh, const std::vector<Axis>& axes, Coordinates& at) {
  for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis) {
    std::int64_t& digit = at[static_cast<std::size_t>(*axis)];
    if (++digit < mesh[*axis]) return true;
    digit = 0;
  }
  return false;
}

Interval PartRange(std::int64_t size, std::int64_t part, std::int64_t parts,
                   std::int64_t multiple) {
  if (size == 0) return {0, 0};
  const std::int64_t share = size / parts + (size % parts != 0 ? 1 : 0);
  const std::int64_t units = share / multiple + (share % multiple != 0 ? 1 : 0);
  const std::int64_t most = units > size / multiple ? size : units * multiple;
  const std::int64_t full = size / most;  // parts with `most` elements; the next one gets the rest
  if (part > full) return {size, size};
  return {part * most, part < full ? (part + 1) * most : size};
}

Interval CutRange(const MeshShape& mesh, const DimCut& cut, std::int64_t size,
                  const Coordinates& at) {
  const std::int64_t parts = Degree(mesh, cut.axes);
  if (parts == 1) return {0, size};
  const std::int64_t part = PartOf(mesh, cut.axes, at);
  if (cut.split == Split::kHeads) return HeadRange(*cut.heads, size, part, parts);
  return PartRange(size, part, parts, cut.multiple);
}

Status CheckDivides(const MeshShape& mesh, const DimCut& cut, std::int64_t size) {
  const std::int64_t parts = Degree(mesh, cut.axes);
  if (parts == 1) return OkStatus();
  if (cut.split == Split::kEven && size % parts != 0) {
    return InvalidArgument(
        fmt::format("= {} is not divisible by {}", size, DescribeAxes(mesh, cut.axes)));
  }
  if (cut.split != Split::kHeads || parts <= cut.heads->kv) return OkStatus();
  if (parts % cut.heads->kv != 0 || cut.heads->query % parts != 0) {
    return InvalidArgument(fmt::format(
        "= {}: {} key and value heads and {} query heads do not go into {}: above {} parts, {} "
        "must divide their number and it must divide {}",
        size, cut.heads->kv, cut.heads->query, DescribeAxes(mesh, cut.axes), cut.heads->kv,
        cut.heads->kv, cut.heads->query));
  }
  return OkStatus();
}

bool HoldsExpert(const MeshShape& mesh, const TensorSpec& spec, const Coordinates& at) {
  if (!spec.expert) return true;
  const Interval mine =
      PartRange(spec.expert->count, at[static_cast<std::size_t>(Axis::kEp)], mesh[Axis::kEp]);
  return mine.begin <= spec.expert->index && spec.expert->index < mine.end;
}

std::vector<Box> CutBoxes(const MeshShape& mesh, const TensorSpec& spec, const Coordinates& at) {
  std::vector<Box> boxes;
  ForEachCutBox(mesh, spec, at, [&](const Dims& dims) {
    boxes.push_back(*Box::Make({dims.data(), spec.shape.size()}));
  });
  return boxes;
}

std::int64_t CutElements(const MeshShape& mesh, const TensorSpec& spec, const Coordinates& at) {
  std::int64_t elements = 0;
  ForEachCutBox(mesh, spec, at, [&](const Dims& dims) {
    std::int64_t product = 1;
    for (std::size_t d = 0; d < spec.shape.size(); ++d) product *= dims[d].size();
    elements += product;
  });
  return elements;
}

std::vector<Axis> CutAxes(const MeshShape& mesh, const TensorSpec& spec) {
  std::array<bool, kNumAxes> cuts{};
  const auto use = [&cuts](const DimCut& cut) {
    for (Axis axis : cut.axes) cuts[static_cast<std::size_t>(axis)] = true;
  };
  for (const DimCut& cut : spec.rule.dims) use(cut);
  if (spec.segments) {
    for (const Segment& segment : spec.segments->blocks) {
      if (segment.cut) use(*segment.cut);
    }
  }
  if (spec.expert) cuts[static_cast<std::size_t>(Axis::kEp)] = true;
  std::vector<Axis> axes;
  for (Axis axis : kAxes) {
    if (cuts[static_cast<std::size_t>(axis)] && mesh[axis] > 1) axes.push_back(axis);
  }
  return axes;
}

}  // namespace tessera::ptc
