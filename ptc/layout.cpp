// SPDX-License-Identifier: Apache-2.0
#include "ptc/layout.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <mutex>
#include <numeric>
#include <utility>

#include "ptc/buckets.h"
#include "ptc/cut.h"
#include "ptc/flat_range.h"
#include "ptc/scales.h"

namespace tessera::ptc {
namespace {

Status CheckDivides(const MeshShape& mesh, const TensorSpec& spec) {
  for (std::size_t d = 0; d < spec.shape.size(); ++d) {
    const DimCut& cut = spec.rule.dims[d];
    if (!spec.segments || spec.segments->dim != static_cast<int>(d)) {
      const Status status = CheckDivides(mesh, cut, spec.shape[d]);
      if (status) continue;
      return InvalidArgument(
          fmt::format("tensor '{}': dim {} {}", spec.name, d, status.error().message));
    }
    for (std::size_t s = 0; s < spec.segments->blocks.size(); ++s) {
      const Segment& segment = spec.segments->blocks[s];
      const Status status = CheckDivides(mesh, segment.cut ? *segment.cut : cut, segment.size);
      if (status) continue;
      return InvalidArgument(fmt::format("tensor '{}': segment {} of dim {} {}", spec.name, s, d,
                                         status.error().message));
    }
  }
  return OkStatus();
}

/// Gives each rule its only form: members that its kind does not read get their defaults.
StageRule Normalized(StageRule rule) {
  if (rule.kind != StageRule::Kind::kExplicit) {
    rule.stage_of_layer.clear();
  } else if (rule.stage_of_layer.empty()) {
    return {};
  } else {
    rule.interleave = 1;
  }
  return rule;
}

}  // namespace

struct Layout::Hash {
  std::once_flag once;
  std::uint64_t value = 0;
};

Layout::Layout(DeviceMesh mesh, CollectionPtr tensors, StageRule rule,
               std::vector<std::int64_t> stage_of_layer)
    : mesh_(std::move(mesh)),
      tensors_(std::move(tensors)),
      stage_rule_(std::move(rule)),
      stage_of_layer_(std::make_shared<const std::vector<std::int64_t>>(std::move(stage_of_layer))),
      buckets_(std::make_shared<const Buckets>(mesh_.shape(), *tensors_, *stage_of_layer_)),
      hash_(std::make_shared<Hash>()) {}

Result<Layout> Layout::Make(DeviceMesh mesh, CollectionPtr tensors, StageRule stages) {
  TESSERA_RETURN_IF_ERROR(CheckScales(mesh.shape(), *tensors));
  for (const TensorSpec& spec : tensors->tensors()) {
    if (IsPacked(spec.dtype)) {
      return Error{ErrorCode::kUnimplemented,
                   fmt::format("tensor '{}' is {}: elements below one byte are not moved between "
                               "devices",
                               spec.name, ToString(spec.dtype)),
                   {}};
    }
    TESSERA_RETURN_IF_ERROR(CheckDivides(mesh.shape(), spec));
  }
  TESSERA_TRY(std::vector<std::int64_t> stage_of_layer,
              StagesOfLayers(stages, *tensors, mesh.shape()[Axis::kPp]));
  return Layout(std::move(mesh), std::move(tensors), Normalized(std::move(stages)),
                std::move(stage_of_layer));
}

std::vector<Box> Layout::BoxesAt(int tensor, const Coordinates& at) const {
  const MeshShape& mesh = mesh_.shape();
  const TensorSpec& spec = tensors_->tensors()[static_cast<std::size_t>(tensor)];
  std::vector<Box> boxes = CutBoxes(mesh, spec, at);
  const std::int64_t parts = Degree(mesh, spec.rule.flat);
  if (parts == 1) return boxes;
  std::int64_t elements = 0;
  for (const Box& box : boxes) elements += box.num_elements();
  std::int64_t start = 0;
  std::int64_t total = elements;
  if (const BucketPlace* place = buckets_->Find(tensor)) {
    const auto part = static_cast<std::size_t>(PartOf(mesh, place->axes, at));
    start = place->start[part];
    total = place->total[part];
  }
  const Interval mine = PartRange(total, PartOf(mesh, spec.rule.flat, at), parts);
  return FlatRange(boxes, {std::clamp<std::int64_t>(mine.begin - start, 0, elements),
                           std::clamp<std::int64_t>(mine.end - start, 0, elements)});
}

std::vector<Box> Layout::Boxes(int rank, int tensor) const {
  const TensorSpec& spec = tensors_->tensors()[static_cast<std::size_t>(tensor)];
  // Most tensors are on another stage.
  if (!IsOnStage(spec, *stage_of_layer_, mesh_.Coordinate(rank, Axis::kPp),
                 mesh_.shape()[Axis::kPp])) {
    return {};
  }
  Coordinates at{};
  for (Axis axis : kAxes) at[static_cast<std::size_t>(axis)] = mesh_.Coordinate(rank, axis);
  return BoxesAt(tensor, at);
}

Parts Layout::PartsOf(int tensor) const {
  const MeshShape& mesh = mesh_.shape();
  const TensorSpec& spec = tensors_->tensors()[static_cast<std::size_t>(tensor)];
  const std::int64_t num_stages = mesh[Axis::kPp];
  Parts parts;
  parts.stages = StagesHolding(spec, *stage_of_layer_, num_stages);
  const BucketPlace* place = buckets_->Find(tensor);
  const std::vector<Axis> cut = place != nullptr ? place->axes : CutAxes(mesh, spec);
  for (Axis axis : kAxes) {
    const bool cuts =
        std::ranges::count(cut, axis) > 0 || std::ranges::count(spec.rule.flat, axis) > 0;
    if (cuts && mesh[axis] > 1) parts.axes.push_back(axis);
  }
  const bool by_stage = std::ranges::count(parts.axes, Axis::kPp) > 0;
  Coordinates at{};
  auto& stage = at[static_cast<std::size_t>(Axis::kPp)];
  if (!by_stage) stage = parts.stages.front();
  do {
    const bool holds = !by_stage || std::ranges::count(parts.stages, stage) > 0;
    parts.boxes.push_back(holds ? BoxesAt(tensor, at) : std::vector<Box>{});
  } while (NextCoordinates(mesh, parts.axes, at));
  if (by_stage) {
    parts.stages.resize(static_cast<std::size_t>(num_stages));
    std::iota(parts.stages.begin(), parts.stages.end(), std::int64_t{0});
  }
  return parts;
}

std::size_t Layout::PartIndex(int rank, const Parts& parts) const {
  std::int64_t part = 0;
  for (Axis axis : parts.axes) part = part * mesh_.shape()[axis] + mesh_.Coordinate(rank, axis);
  return static_cast<std::size_t>(part);
}

std::int64_t Layout::BytesOf(int rank) const {
  std::int64_t bytes = 0;
  for (std::size_t t = 0; t < tensors_->tensors().size(); ++t) {
    const std::int64_t size = SizeBytes(tensors_->tensors()[t].dtype);
    for (const Box& box : Boxes(rank, static_cast<int>(t))) bytes += box.num_elements() * size;
  }
  return bytes;
}

std::uint64_t Layout::hash() const {
  std::call_once(hash_->once, [this] {
    const std::string text = ToJson(*this);
    hash_->value = XXH3_64bits(text.data(), text.size());
  });
  return hash_->value;
}

}  // namespace tessera::ptc
