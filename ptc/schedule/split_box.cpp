// SPDX-License-Identifier: Apache-2.0
#include "ptc/schedule/split_box.h"

#include <algorithm>
#include <array>
#include <utility>

namespace tessera::ptc {
namespace {

/// The box with another range in one dim.
Box With(const Box& box, int dim, Interval range) {
  std::array<Interval, kMaxRank> dims{};
  for (int d = 0; d < box.rank(); ++d) dims[static_cast<std::size_t>(d)] = box[d];
  dims[static_cast<std::size_t>(dim)] = range;
  return *Box::Make({dims.data(), static_cast<std::size_t>(box.rank())});
}

}  // namespace

std::vector<Box> SplitEvenly(const Box& box, std::int64_t parts) {
  constexpr std::int64_t kFine = 16;  // rows per part, so that parts differ by at most a sixteenth
  int dim = -1;
  for (int d = 0; d < box.rank(); ++d) {
    if (box[d].size() >= kFine * parts) {
      dim = d;
      break;
    }
    if (dim < 0 || box[d].size() > box[dim].size()) dim = d;
  }
  if (dim < 0) return {box};
  const std::int64_t size = box[dim].size();
  parts = std::min(parts, size);
  const std::int64_t least = size / parts;
  std::vector<Box> out;
  std::int64_t at = box[dim].begin;
  for (std::int64_t part = 0; part < parts; ++part) {
    const std::int64_t end = at + least + (part < size % parts ? 1 : 0);
    out.push_back(With(box, dim, {std::exchange(at, end), end}));
  }
  return out;
}

std::vector<Box> SplitInOrder(const Box& box, std::int64_t most) {
  if (box.num_elements() <= most) return {box};
  int dim = 0;  // all earlier dims have size 1
  while (box[dim].size() == 1) ++dim;
  const std::int64_t row = box.num_elements() / box[dim].size();
  const std::int64_t rows = std::max(std::int64_t{1}, most / row);
  std::vector<Box> out;
  for (std::int64_t at = box[dim].begin; at < box[dim].end; at += rows) {
    const Box slab = With(box, dim, {at, std::min(at + rows, box[dim].end)});
    for (const Box& part : SplitInOrder(slab, most)) out.push_back(part);
  }
  return out;
}

}  // namespace tessera::ptc
