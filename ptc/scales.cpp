// SPDX-License-Identifier: Apache-2.0
#include "ptc/scales.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <span>
#include <utility>

#include "ptc/cut.h"

namespace tessera::ptc {
namespace {

std::int64_t CeilDiv(std::int64_t size, std::int64_t by) { return size / by + (size % by != 0); }

/// The number of elements that share one of `scales` scales of `size` elements.
std::optional<std::int64_t> BlockSize(std::int64_t size, std::int64_t scales) {
  if (scales < 1 || scales > size) return std::nullopt;
  if (scales == 1) return size;
  // All sizes from `least` to `most` give this number of blocks.
  const std::int64_t least = CeilDiv(size, scales);
  const std::int64_t most = CeilDiv(size, scales - 1) - 1;
  if (least > most) return std::nullopt;
  const auto power = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(least)));
  return power <= most ? power : least;
}

/// How `size` elements and `scales` scales go together.
std::optional<ScaleDim> MatchDim(std::int64_t size, std::int64_t scales) {
  if (scales > size && size > 0) {
    for (const std::int64_t packed : {4, 8, 16}) {  // values of 8, 4 and 2 bits in a word of 32
      if (scales % packed == 0 && scales / packed == size) return ScaleDim{1, packed};
    }
    return std::nullopt;
  }
  const auto block = BlockSize(size, scales);
  if (!block) return std::nullopt;
  return ScaleDim{*block, 1};
}

/// The cut of a weight's dim as a cut of its `scales` scales.
DimCut InBlocks(const DimCut& cut, std::int64_t scales, const ScaleDim& block) {
  DimCut out = cut;
  if (cut.axes.empty() || block == ScaleDim{}) return out;
  if (scales == 1) return {};  // every part needs the only scale
  if (cut.heads && scales % (cut.heads->of_query ? cut.heads->query : cut.heads->kv) != 0) {
    out.heads.reset();
    out.split = Split::kEven;
  }
  if (cut.split != Split::kCeil) return out;
  if (block.scales == 1) {
    out.multiple = std::max<std::int64_t>(1, cut.multiple / block.elements);
  } else {
    out.multiple = std::min(cut.multiple, scales / block.scales) * block.scales;
  }
  return out;
}

/// The scales of a range of elements.
Interval ScalesOf(const Interval& range, const ScaleDim& block) {
  return {range.begin / block.elements * block.scales,
          CeilDiv(range.end, block.elements) * block.scales};
}

/// A scale and its weight.
struct ScaledPair {
  int weight = 0;
  int scale = 0;
  std::optional<std::vector<ScaleDim>> blocks;  // nullopt: not known
};

std::vector<ScaledPair> FindPairs(const Collection& collection) {
  std::vector<ScaledPair> pairs;
  const std::vector<TensorSpec>& tensors = collection.tensors();
  for (std::size_t t = 0; t < tensors.size(); ++t) {
    for (const std::string& name : WeightsOfScale(tensors[t].name)) {
      const auto weight = collection.Find(name);
      if (!weight) continue;
      const Shape& shape = tensors[static_cast<std::size_t>(*weight)].shape;
      auto blocks = BlocksOfScale(shape, tensors[t].shape);
      const bool is_one = blocks && blocks->empty();
      if (!is_one && shape != tensors[t].shape)
        pairs.push_back({*weight, static_cast<int>(t), std::move(blocks)});
      break;
    }
  }
  return pairs;
}

/// The box of the scales that `box` of the weight needs.
Box NeededScales(const Box& box, const std::vector<ScaleDim>& blocks) {
  std::vector<Interval> dims;
  for (std::size_t d = 0; d < blocks.size(); ++d) {
    dims.push_back(ScalesOf(box[static_cast<int>(d)], blocks[d]));
  }
  return *Box::Make(dims);
}

/// The first dim along which `box` does not begin and end where blocks do.
int TornDim(const Box& box, const Shape& shape, const std::vector<ScaleDim>& blocks) {
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const Interval& range = box[static_cast<int>(i)];
    const bool ends = range.end == shape[i] || range.end % blocks[i].elements == 0;
    if (range.begin % blocks[i].elements != 0 || !ends) return static_cast<int>(i);
  }
  return -1;
}

/// Whether dims or segments are cut.
bool HasCuts(const MeshShape& mesh, const TensorSpec& spec) {
  const auto is_cut = [&](const DimCut& cut) { return Degree(mesh, cut.axes) > 1; };
  return std::ranges::any_of(spec.rule.dims, is_cut) ||
         (spec.segments && std::ranges::any_of(spec.segments->blocks, [&](const Segment& segment) {
            return segment.cut && is_cut(*segment.cut);
          }));
}

/// "tp=1"
std::string PlaceOf(const std::vector<Axis>& axes, const Coordinates& at) {
  std::string text;
  for (const Axis axis : axes) {
    text += fmt::format("{}{}={}", text.empty() ? "" : ",", ToString(axis),
                        at[static_cast<std::size_t>(axis)]);
  }
  return text;
}

Error Lacking(const Collection& collection, const ScaledPair& pair, const std::string& place,
              const Box& box, const Box& missing) {
  const TensorSpec& weight = collection.tensors()[static_cast<std::size_t>(pair.weight)];
  const TensorSpec& scale = collection.tensors()[static_cast<std::size_t>(pair.scale)];
  const int torn = TornDim(box, weight.shape, *pair.blocks);
  const std::string lacks =
      fmt::format("tensor '{}': the part {} at {} lacks the scales {} of '{}'", weight.name,
                  ToString(box), place, ToString(missing), scale.name);
  if (torn < 0) return InvalidArgument(fmt::format("{}; cut both at the same elements", lacks));
  const auto d = static_cast<std::size_t>(torn);
  return InvalidArgument(fmt::format(
      "{}: {} elements of dim {} = {} share a scale, so each part must be a multiple of "
      "{}; choose another degree, or cut the dim with \"split\": \"ceil\", "
      "\"multiple\": {}",
      lacks, (*pair.blocks)[d].elements, torn, weight.shape[d], (*pair.blocks)[d].elements,
      (*pair.blocks)[d].elements));
}

Status CheckPair(const MeshShape& mesh, const Collection& collection, const ScaledPair& pair) {
  const TensorSpec& weight = collection.tensors()[static_cast<std::size_t>(pair.weight)];
  const TensorSpec& scale = collection.tensors()[static_cast<std::size_t>(pair.scale)];
  // Flat shards are gathered before they are used.
  if (!weight.rule.flat.empty() || !scale.rule.flat.empty()) return OkStatus();
  if (!pair.blocks) {
    if (!HasCuts(mesh, scale)) return OkStatus();
    return InvalidArgument(fmt::format(
        "tensor '{}' is cut, but its shape {} does not say which scales the parts of '{}' {} need; "
        "replicate it with a rule of its own",
        scale.name, ToString(scale.shape), weight.name, ToString(weight.shape)));
  }
  // Layout::Make refuses a weight whose own cut does not divide it.
  for (std::size_t d = 0; d < weight.shape.size(); ++d) {
    const bool fused = weight.segments && weight.segments->dim == static_cast<int>(d);
    if (!fused && !CheckDivides(mesh, weight.rule.dims[d], weight.shape[d])) return OkStatus();
  }
  std::vector<Axis> axes = CutAxes(mesh, weight);
  for (const Axis axis : CutAxes(mesh, scale)) {
    if (std::ranges::count(axes, axis) == 0) axes.push_back(axis);
  }
  Coordinates at{};
  do {
    const std::vector<Box> held = CutBoxes(mesh, scale, at);
    for (const Box& box : CutBoxes(mesh, weight, at)) {
      std::vector<Box> missing = {NeededScales(box, *pair.blocks)};
      for (const Box& part : held) missing = Subtract(missing, part);
      if (missing.empty()) continue;
      return Lacking(collection, pair, PlaceOf(axes, at), box, missing.front());
    }
  } while (NextCoordinates(mesh, axes, at));
  return OkStatus();
}

}  // namespace

std::vector<std::string> WeightsOfScale(std::string_view name) {
  // Each layout looks at the names of all its tensors: most of them are no scales.
  constexpr std::array<std::string_view, 5> kEnds = {"inv", "ale", "int", "les", "ros"};
  if (name.size() < 3 || std::ranges::count(kEnds, name.substr(name.size() - 3)) == 0) return {};
  const auto base_of = [name](std::string_view suffix) {
    return name.ends_with(suffix) ? std::string(name.substr(0, name.size() - suffix.size()))
                                  : std::string();
  };
  if (std::string base = base_of("_scale_inv"); !base.empty()) return {std::move(base)};
  if (std::string base = base_of("weight_scale"); !base.empty()) {
    return {base + "weight", base + "weight_packed"};
  }
  if (std::string base = base_of("weight_zero_point"); !base.empty()) {
    return {base + "weight", base + "weight_packed"};
  }
  if (const std::string base = base_of("_scales"); !base.empty()) return {base + "_blocks"};
  if (const std::string base = base_of(".scales"); !base.empty()) {
    return {base + ".weight", base + ".qweight"};
  }
  if (const std::string base = base_of(".qzeros"); !base.empty()) return {base + ".qweight"};
  return {};
}

std::optional<std::vector<ScaleDim>> BlocksOfScale(const Shape& weight, const Shape& scale) {
  std::vector<ScaleDim> blocks;
  if (weight.size() > 1 && (scale.empty() || scale == Shape{1})) return blocks;
  if (scale.empty() || scale.size() > weight.size() || weight == scale) return std::nullopt;
  if (scale.size() < weight.size()) {  // one for each index of the first dims
    if (!std::ranges::equal(scale, std::span(weight).first(scale.size()))) return std::nullopt;
    return std::vector<ScaleDim>(scale.size());
  }
  for (std::size_t d = 0; d < weight.size(); ++d) {
    const auto block = MatchDim(weight[d], scale[d]);
    if (!block) return std::nullopt;
    blocks.push_back(*block);
  }
  return blocks;
}

Status CutByBlocks(const Shape& weight, const std::vector<ScaleDim>& blocks, TensorSpec& scale) {
  if (blocks.empty()) {
    scale.rule.dims.clear();
    scale.segments.reset();
    return OkStatus();
  }
  const auto dim_of_segments = scale.segments ? scale.segments->dim : -1;
  scale.rule.dims.resize(std::min(scale.rule.dims.size(), blocks.size()));
  for (std::size_t d = 0; d < scale.rule.dims.size(); ++d) {
    scale.rule.dims[d] = InBlocks(scale.rule.dims[d], scale.shape[d], blocks[d]);
  }
  if (dim_of_segments < 0) return OkStatus();
  if (static_cast<std::size_t>(dim_of_segments) >= blocks.size()) {
    scale.segments.reset();  // all of them share the scales
    return OkStatus();
  }
  const ScaleDim block = blocks[static_cast<std::size_t>(dim_of_segments)];
  if (block == ScaleDim{}) return OkStatus();
  if (scale.shape[static_cast<std::size_t>(dim_of_segments)] == 1) {
    scale.segments.reset();
    return OkStatus();
  }
  std::int64_t end = 0;
  for (Segment& segment : scale.segments->blocks) {
    end += segment.size;
    if (end % block.elements != 0 && end != weight[static_cast<std::size_t>(dim_of_segments)]) {
      return InvalidArgument(
          fmt::format("a segment ends at {} of dim {}, inside a block of {} elements that share a "
                      "scale; segments must be multiples of {}",
                      end, dim_of_segments, block.elements, block.elements));
    }
    segment.size = CeilDiv(segment.size, block.elements) * block.scales;
    if (segment.cut) segment.cut = InBlocks(*segment.cut, segment.size, block);
  }
  return OkStatus();
}

Status CheckScales(const MeshShape& mesh, const Collection& collection) {
  for (const ScaledPair& pair : FindPairs(collection)) {
    TESSERA_RETURN_IF_ERROR(CheckPair(mesh, collection, pair));
  }
  return OkStatus();
}

}  // namespace tessera::ptc
