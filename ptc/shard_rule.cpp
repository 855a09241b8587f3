// SPDX-License-Identifier: Apache-2.0
#include "ptc/shard_rule.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

namespace tessera::ptc {
namespace {

/// Keeps products with numbers of parts within int64.
constexpr std::int64_t kMaxHeads = std::numeric_limits<std::int32_t>::max();

Status CheckSegments(const TensorSpec& spec) {
  const Segments& segments = *spec.segments;
  if (segments.dim < 0 || segments.dim >= std::ssize(spec.shape)) {
    return InvalidArgument(fmt::format("segments of dim {}, but the tensor has {} dims",
                                       segments.dim, spec.shape.size()));
  }
  const std::int64_t size = spec.shape[static_cast<std::size_t>(segments.dim)];
  std::int64_t rest = size;
  Shape sizes;
  for (const Segment& segment : segments.blocks) {
    sizes.push_back(segment.size);
    if (rest < 0) continue;
    rest = segment.size < 0 || segment.size > rest ? -1 : rest - segment.size;
  }
  if (rest != 0) {
    return InvalidArgument(fmt::format("segments {} do not add up to dim {} = {}", ToString(sizes),
                                       segments.dim, size));
  }
  return OkStatus();
}

Status CheckHeads(const HeadGroups& heads) {
  if (heads.kv < 1 || heads.query < heads.kv || heads.query > kMaxHeads ||
      heads.query % heads.kv != 0) {
    return InvalidArgument(fmt::format("{} query heads do not share {} key and value heads evenly",
                                       heads.query, heads.kv));
  }
  return OkStatus();
}

/// `what` names the thing that the cut divides: "dim 0", "segment 2 of dim 0".
Status CheckCut(const DimCut& cut, std::int64_t size, const std::string& what) {
  if ((cut.split == Split::kHeads) != cut.heads.has_value()) {
    return InvalidArgument(fmt::format("{} is split '{}', {} heads", what, ToString(cut.split),
                                       cut.heads ? "with" : "without"));
  }
  if (cut.split == Split::kCeil && cut.multiple < 1) {
    return InvalidArgument(fmt::format("{} is cut at multiples of {}", what, cut.multiple));
  }
  if (!cut.heads) return OkStatus();
  TESSERA_RETURN_IF_ERROR(CheckHeads(*cut.heads));
  const std::int64_t heads = cut.heads->of_query ? cut.heads->query : cut.heads->kv;
  if (size % heads != 0) {
    return InvalidArgument(fmt::format("{} = {} is not divisible by {} {} heads", what, size, heads,
                                       cut.heads->of_query ? "query" : "key and value"));
  }
  return OkStatus();
}

using AxisSet = std::array<bool, kNumAxes>;

Error Twice(Axis axis) {
  return InvalidArgument(fmt::format("axis {} is twice in the rule", ToString(axis)));
}

/// Adds the axes to the axes of one dim.
Status Add(const std::vector<Axis>& axes, AxisSet& of_dim) {
  AxisSet here{};
  for (Axis axis : axes) {
    bool& used = here[static_cast<std::size_t>(axis)];
    if (used) return Twice(axis);
    used = true;
    of_dim[static_cast<std::size_t>(axis)] = true;
  }
  return OkStatus();
}

Status CheckAxes(const TensorSpec& spec) {
  AxisSet seen{};
  const auto use = [&](const AxisSet& axes) -> Status {
    for (Axis axis : kAxes) {
      const auto a = static_cast<std::size_t>(axis);
      if (!axes[a]) continue;
      if (seen[a]) return Twice(axis);
      seen[a] = true;
      // The stages that hold the tensor would hold only their shares, and no stage the rest.
      if (axis == Axis::kPp && spec.place != StagePlace::kAll) {
        return InvalidArgument(
            fmt::format("axis pp cuts the tensor, but its place is '{}'", ToString(spec.place)));
      }
      if (axis == Axis::kEp && spec.expert) {
        return InvalidArgument(fmt::format("axis ep cuts the tensor, but it is expert {} of {}",
                                           spec.expert->index, spec.expert->count));
      }
    }
    return OkStatus();
  };
  for (std::size_t d = 0; d < spec.rule.dims.size() || d < spec.shape.size(); ++d) {
    AxisSet of_dim{};
    if (d < spec.rule.dims.size()) TESSERA_RETURN_IF_ERROR(Add(spec.rule.dims[d].axes, of_dim));
    if (spec.segments && spec.segments->dim == static_cast<int>(d)) {
      for (const Segment& segment : spec.segments->blocks) {
        if (segment.cut) TESSERA_RETURN_IF_ERROR(Add(segment.cut->axes, of_dim));
      }
    }
    TESSERA_RETURN_IF_ERROR(use(of_dim));
  }
  AxisSet flat{};
  TESSERA_RETURN_IF_ERROR(Add(spec.rule.flat, flat));
  return use(flat);
}

void Normalize(DimCut& cut) {
  if (cut.axes.empty()) cut = {};
  if (cut.split != Split::kCeil) cut.multiple = 1;
}

}  // namespace

Status CheckRule(const TensorSpec& spec) {
  if (spec.segments) TESSERA_RETURN_IF_ERROR(CheckSegments(spec));
  if (spec.rule.dims.size() > spec.shape.size()) {
    return InvalidArgument(fmt::format("rule has {} dims, but the tensor has {}",
                                       spec.rule.dims.size(), spec.shape.size()));
  }
  TESSERA_RETURN_IF_ERROR(CheckAxes(spec));
  for (std::size_t d = 0; d < spec.rule.dims.size(); ++d) {
    if (spec.segments && spec.segments->dim == static_cast<int>(d)) continue;
    TESSERA_RETURN_IF_ERROR(CheckCut(spec.rule.dims[d], spec.shape[d], fmt::format("dim {}", d)));
  }
  if (spec.segments) {
    const auto dim = static_cast<std::size_t>(spec.segments->dim);
    const DimCut whole = dim < spec.rule.dims.size() ? spec.rule.dims[dim] : DimCut{};
    for (std::size_t s = 0; s < spec.segments->blocks.size(); ++s) {
      const Segment& segment = spec.segments->blocks[s];
      TESSERA_RETURN_IF_ERROR(CheckCut(segment.cut.value_or(whole), segment.size,
                                       fmt::format("segment {} of dim {}", s, dim)));
    }
  }
  if (!spec.rule.bucket.empty() && spec.rule.flat.empty()) {
    return InvalidArgument(
        fmt::format("bucket '{}' of a tensor that is not cut flat", spec.rule.bucket));
  }
  return OkStatus();
}

void Normalize(TensorSpec& spec) {
  spec.rule.dims.resize(spec.shape.size());
  for (DimCut& cut : spec.rule.dims) Normalize(cut);
  if (!spec.segments) return;
  DimCut& dim = spec.rule.dims[static_cast<std::size_t>(spec.segments->dim)];
  std::vector<Segment>& blocks = spec.segments->blocks;
  for (Segment& segment : blocks) {
    if (segment.cut) Normalize(*segment.cut);
  }
  // If every segment has its own cut, the cut of the dim has no effect.
  const bool all_own = std::all_of(blocks.begin(), blocks.end(),
                                   [](const Segment& segment) { return segment.cut.has_value(); });
  if (all_own && !blocks.empty()) dim = {};
  for (Segment& segment : blocks) {
    if (segment.cut == dim) segment.cut.reset();
  }
}

}  // namespace tessera::ptc
