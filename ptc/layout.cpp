// SPDX-License-Identifier: Apache-2.0
#include "ptc/layout.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <optional>
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

/// Range of part `part` when `parts` share `size` elements: [part*c, (part+1)*c) as far as there
/// are elements, c = ceil(size/parts); begin == end where there are none. The one division of every
/// cut: an even cut is the case in which all parts are full.
Interval PartRange(std::int64_t size, std::int64_t part, std::int64_t parts) {
  if (size == 0) return {0, 0};
  const std::int64_t most = size / parts + (size % parts != 0 ? 1 : 0);
  const std::int64_t full = size / most;  // so many parts have `most`; one more may have the rest
  if (part > full) return {size, size};
  return {part * most, part < full ? (part + 1) * most : size};
}

/// The elements at positions [begin, end) of a box in row-major order, as boxes. Peels the ragged
/// head and tail of dim `dim`, whose part in `box` and whose inner dims are whole:
///
///     . . # #     head: this row again, one dim further in
///     # # # #     body: one box
///     # # # #
///     # . . .     tail
///
/// A head needs no tail further in and a tail no head, so n dims give at most 2n-1 boxes.
void AppendRange(std::span<const Interval> box, std::size_t dim, std::array<Interval, kMaxRank> at,
                 Interval range, std::vector<Box>& out) {
  if (range.begin == range.end) return;
  std::int64_t inner = 1;  // elements of one row of `dim`
  for (std::size_t d = dim + 1; d < box.size(); ++d) inner *= box[d].size();
  if (range.size() == inner * (dim < box.size() ? box[dim].size() : 1)) {
    for (std::size_t d = dim; d < box.size(); ++d) at[d] = box[d];
    out.push_back(*Box::Make({at.data(), box.size()}));
    return;
  }
  const std::int64_t first = range.begin / inner;
  const std::int64_t last = range.end / inner;
  const auto row = [&](std::int64_t r, Interval part) {
    at[dim] = {box[dim].begin + r, box[dim].begin + r + 1};
    AppendRange(box, dim + 1, at, part, out);
  };
  if (first == last) return row(first, {range.begin % inner, range.end % inner});
  std::int64_t body = first;
  if (range.begin % inner != 0) row(body++, {range.begin % inner, inner});
  if (body < last) {
    for (std::size_t d = dim + 1; d < box.size(); ++d) at[d] = box[d];
    at[dim] = {box[dim].begin + body, box[dim].begin + last};
    out.push_back(*Box::Make({at.data(), box.size()}));
  }
  row(last, {0, range.end % inner});
}

/// What the cuts of the dims leave on a rank: a box a segment, ascending.
std::vector<Box> RuleBoxes(const DeviceMesh& mesh, const TensorSpec& spec, int rank) {
  std::array<Interval, kMaxRank> dims{};
  const auto cut = [&](std::size_t dim, std::int64_t start, std::int64_t size) {
    const std::vector<Axis>& axes = spec.rule.dims[dim];
    const Interval part = PartRange(size, PartOf(mesh, axes, rank), Degree(mesh.shape(), axes));
    dims[dim] = {start + part.begin, start + part.end};
    return part.size() > 0;
  };
  bool any = true;
  for (std::size_t d = 0; d < spec.shape.size(); ++d) {
    if (spec.segments && spec.segments->dim == static_cast<int>(d)) continue;
    any = cut(d, 0, spec.shape[d]) && any;
  }
  if (!any) return {};
  const std::span<const Interval> box(dims.data(), spec.shape.size());
  if (!spec.segments) return {*Box::Make(box)};
  std::vector<Box> boxes;
  std::int64_t start = 0;
  for (std::int64_t segment : spec.segments->sizes) {
    if (cut(static_cast<std::size_t>(spec.segments->dim), start, segment)) {
      boxes.push_back(*Box::Make(box));
    }
    start += segment;
  }
  return boxes;
}

/// What part `part` of `parts` holds of the elements of `boxes`, one box after another.
std::vector<Box> FlatPart(const std::vector<Box>& boxes, std::int64_t part, std::int64_t parts) {
  std::int64_t elements = 0;
  for (const Box& box : boxes) elements += box.num_elements();
  const Interval mine = PartRange(elements, part, parts);
  std::vector<Box> out;
  std::int64_t start = 0;
  for (const Box& box : boxes) {
    const std::int64_t size = box.num_elements();
    const Interval range{std::max(mine.begin, start), std::min(mine.end, start + size)};
    std::array<Interval, kMaxRank> dims{};
    for (int d = 0; d < box.rank(); ++d) dims[static_cast<std::size_t>(d)] = box[d];
    if (range.begin < range.end) {
      AppendRange({dims.data(), static_cast<std::size_t>(box.rank())}, 0, {},
                  {range.begin - start, range.end - start}, out);
    }
    start += size;
  }
  std::sort(out.begin(), out.end());  // boxes of segments interleave where their dim is not 0
  return out;
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
  if (spec.rule.split != Split::kEven) return OkStatus();
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
  std::vector<Box> boxes = RuleBoxes(mesh_, spec, rank);
  const std::optional<Axis>& flat = spec.rule.flat;
  if (!flat || mesh_.shape()[*flat] == 1) return boxes;
  return FlatPart(boxes, mesh_.Coordinate(rank, *flat), mesh_.shape()[*flat]);
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
