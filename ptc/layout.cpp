// SPDX-License-Identifier: Apache-2.0
#include "ptc/layout.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <array>
#include <span>

namespace tessera::ptc {
namespace {

/// Number of parts into which `axes` cut a dim.
std::int64_t Degree(const MeshShape& shape, const std::vector<Axis>& axes) {
  std::int64_t degree = 1;
  for (Axis axis : axes) degree *= shape[axis];
  return degree;
}

/// Which of the parts belongs to `rank`: the mixed-radix number of its coordinates, major first.
std::int64_t PartOf(const DeviceMesh& mesh, const std::vector<Axis>& axes, int rank) {
  std::int64_t part = 0;
  for (Axis axis : axes) part = part * mesh.shape()[axis] + mesh.Coordinate(rank, axis);
  return part;
}

/// "axis tp = 4" or "axes dp*tp = 8"; axes of degree 1 are left out.
std::string DescribeCut(const MeshShape& shape, const std::vector<Axis>& axes) {
  std::string names;
  int count = 0;
  for (Axis axis : axes) {
    if (shape[axis] == 1) continue;
    if (count++ > 0) names += '*';
    names += ToString(axis);
  }
  return fmt::format("{} {} = {}", count > 1 ? "axes" : "axis", names, Degree(shape, axes));
}

Status CheckEven(const MeshShape& mesh, const TensorSpec& spec) {
  for (std::size_t d = 0; d < spec.shape.size(); ++d) {
    const std::vector<Axis>& axes = spec.rule.dims[d];
    const std::int64_t degree = Degree(mesh, axes);
    if (degree == 1) continue;
    if (spec.segments && spec.segments->dim == static_cast<int>(d)) {
      for (std::size_t s = 0; s < spec.segments->sizes.size(); ++s) {
        const std::int64_t size = spec.segments->sizes[s];
        if (size % degree == 0) continue;
        return InvalidArgument(
            fmt::format("tensor '{}': segment {} of dim {} = {} is not divisible by {}", spec.name,
                        s, d, size, DescribeCut(mesh, axes)));
      }
    } else if (spec.shape[d] % degree != 0) {
      return InvalidArgument(fmt::format("tensor '{}': dim {} = {} is not divisible by {}",
                                         spec.name, d, spec.shape[d], DescribeCut(mesh, axes)));
    }
  }
  return OkStatus();
}

}  // namespace

Layout::Layout(DeviceMesh mesh, CollectionPtr tensors)
    : mesh_(std::move(mesh)), tensors_(std::move(tensors)) {}

Result<Layout> Layout::Make(DeviceMesh mesh, CollectionPtr tensors) {
  for (const TensorSpec& spec : tensors->tensors()) {
    TESSERA_RETURN_IF_ERROR(CheckEven(mesh.shape(), spec));
  }
  return Layout(std::move(mesh), std::move(tensors));
}

std::vector<Box> Layout::Boxes(int rank, int tensor) const {
  const TensorSpec& spec = tensors_->tensors()[static_cast<std::size_t>(tensor)];
  if (!IsOnStage(spec, tensors_->num_layers(), mesh_.Coordinate(rank, Axis::kPp),
                 mesh_.shape()[Axis::kPp])) {
    return {};
  }
  const std::size_t rank_of_tensor = spec.shape.size();
  std::array<Interval, kMaxRank> dims{};
  std::array<std::int64_t, kMaxRank> degrees{};
  std::array<std::int64_t, kMaxRank> parts{};
  for (std::size_t d = 0; d < rank_of_tensor; ++d) {
    if (spec.shape[d] == 0) return {};
    degrees[d] = Degree(mesh_.shape(), spec.rule.dims[d]);
    parts[d] = PartOf(mesh_, spec.rule.dims[d], rank);
    const std::int64_t size = spec.shape[d] / degrees[d];
    dims[d] = {parts[d] * size, (parts[d] + 1) * size};
  }
  std::vector<Box> boxes;
  const std::span<const Interval> box(dims.data(), rank_of_tensor);
  if (!spec.segments) {
    boxes.push_back(*Box::Make(box));
    return boxes;
  }
  const auto cut = static_cast<std::size_t>(spec.segments->dim);
  std::int64_t start = 0;
  for (std::int64_t segment : spec.segments->sizes) {
    const std::int64_t size = segment / degrees[cut];
    dims[cut] = {start + parts[cut] * size, start + (parts[cut] + 1) * size};
    if (size > 0) boxes.push_back(*Box::Make(box));
    start += segment;
  }
  return boxes;
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
  const std::string text = ToJson(*this);
  return XXH3_64bits(text.data(), text.size());
}

}  // namespace tessera::ptc
