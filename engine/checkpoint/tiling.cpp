// SPDX-License-Identifier: Apache-2.0
#include "engine/checkpoint/tiling.h"

#include <algorithm>
#include <array>

namespace tessera::checkpoint {
namespace {

using ptc::Box;
using ptc::Interval;

constexpr std::size_t kFew = 12;

Box WithDim(const Box& box, int dim, Interval range) {
  std::array<Interval, ptc::kMaxRank> dims{};
  for (int d = 0; d < box.rank(); ++d) dims[static_cast<std::size_t>(d)] = box[d];
  dims[static_cast<std::size_t>(dim)] = range;
  return *Box::Make(std::span(dims.data(), static_cast<std::size_t>(box.rank())));
}

/// \pre every box intersects the region
std::optional<TilingFlaw> ExamineFew(const Box& region, const std::vector<Box>& boxes) {
  std::vector<Box> missing = {region};
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    const Box inside = *Intersect(region, boxes[i]);
    for (std::size_t j = 0; j < i; ++j) {
      if (const auto both = Intersect(inside, boxes[j])) return TilingFlaw{false, *both};
    }
    missing = Subtract(missing, inside);
  }
  if (missing.empty()) return std::nullopt;
  return TilingFlaw{true, *std::ranges::min_element(missing)};
}

struct Cut {
  int dim = -1;
  std::int64_t at = 0;
  std::size_t load = 0;  // boxes of the half with more boxes
};

/// Cuts at the median face along one dim: the dim whose larger half has the fewest boxes.
Cut BestCut(const Box& region, const std::vector<Box>& boxes) {
  Cut best;
  std::vector<std::int64_t> faces;
  for (int d = 0; d < region.rank(); ++d) {
    faces.clear();
    for (const Box& box : boxes) {
      for (const std::int64_t face : {box[d].begin, box[d].end}) {
        if (region[d].begin < face && face < region[d].end) faces.push_back(face);
      }
    }
    if (faces.empty()) continue;
    const auto middle = faces.begin() + static_cast<std::ptrdiff_t>(faces.size() / 2);
    std::ranges::nth_element(faces, middle);
    std::size_t low = 0;
    std::size_t high = 0;
    for (const Box& box : boxes) {
      low += box[d].begin < *middle ? 1U : 0U;
      high += box[d].end > *middle ? 1U : 0U;
    }
    const std::size_t load = std::max(low, high);
    if (best.dim < 0 || load < best.load) best = {d, *middle, load};
  }
  return best;
}

std::optional<TilingFlaw> Examine(const Box& region, const std::vector<Box>& boxes) {
  if (boxes.size() <= kFew) return ExamineFew(region, boxes);
  const Cut cut = BestCut(region, boxes);
  // If no face is inside the region, every box covers all of it.
  if (cut.dim < 0) return TilingFlaw{false, region};
  const Interval whole = region[cut.dim];
  for (const Interval half : {Interval{whole.begin, cut.at}, Interval{cut.at, whole.end}}) {
    std::vector<Box> inside;
    for (const Box& box : boxes) {
      if (box[cut.dim].begin < half.end && box[cut.dim].end > half.begin) inside.push_back(box);
    }
    if (auto flaw = Examine(WithDim(region, cut.dim, half), inside)) return flaw;
  }
  return std::nullopt;
}

}  // namespace

std::optional<TilingFlaw> FindTilingFlaw(const Box& whole, const std::vector<Box>& boxes) {
  return Examine(whole, boxes);
}

}  // namespace tessera::checkpoint
