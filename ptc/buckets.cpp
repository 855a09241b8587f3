// SPDX-License-Identifier: Apache-2.0
#include "ptc/buckets.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "ptc/cut.h"

namespace tessera::ptc {
Buckets::Buckets(const MeshShape& mesh, const Collection& tensors,
                 const std::vector<std::int64_t>& stage_of_layer) {
  using Key = std::tuple<std::string_view, DType, std::vector<Axis>>;
  std::map<Key, std::vector<int>> groups;  // ascending, which is the order of names
  const std::vector<TensorSpec>& specs = tensors.tensors();
  for (std::size_t t = 0; t < specs.size(); ++t) {
    const ShardRule& rule = specs[t].rule;
    if (rule.bucket.empty() || Degree(mesh, rule.flat) == 1) continue;
    groups[{rule.bucket, specs[t].dtype, rule.flat}].push_back(static_cast<int>(t));
  }
  if (groups.empty()) return;
  place_of_.assign(specs.size(), -1);
  const auto spec_of = [&specs](int t) -> const TensorSpec& {
    return specs[static_cast<std::size_t>(t)];
  };
  const std::int64_t num_stages = mesh[Axis::kPp];
  for (const auto& [key, members] : groups) {
    const std::vector<Axis>& flat = std::get<2>(key);
    // The axes of all members except pp, because the loop below goes over the stages. If the bucket
    // is cut flat over pp, each stage has all of it.
    std::vector<Axis> axes;
    bool any_cut_by_pp = false;
    for (Axis axis : kAxes) {
      const bool cuts = std::any_of(members.begin(), members.end(), [&](int t) {
        return std::ranges::count(CutAxes(mesh, spec_of(t)), axis) > 0;
      });
      if (cuts && axis == Axis::kPp) any_cut_by_pp = true;
      if (cuts && axis != Axis::kPp) axes.push_back(axis);
    }
    const bool is_flat_over_pp = std::ranges::count(flat, Axis::kPp) > 0;
    std::vector<std::vector<std::int64_t>> stages_of;
    for (int t : members) {
      const std::vector<std::int64_t> stages =
          StagesHolding(spec_of(t), stage_of_layer, num_stages);
      place_of_[static_cast<std::size_t>(t)] = static_cast<int>(places_.size());
      BucketPlace& place = places_.emplace_back();
      const bool by_stage = num_stages > 1 && !is_flat_over_pp;
      if (by_stage && (any_cut_by_pp || stages.size() > 1)) place.axes.push_back(Axis::kPp);
      place.axes.insert(place.axes.end(), axes.begin(), axes.end());
      const auto parts = static_cast<std::size_t>(Degree(mesh, place.axes));
      place.start.resize(parts);
      place.total.resize(parts);
      stages_of.push_back(stages);
    }
    for (std::int64_t stage = 0; stage < (is_flat_over_pp ? 1 : num_stages); ++stage) {
      Coordinates at{};
      at[static_cast<std::size_t>(Axis::kPp)] = stage;
      std::vector<int> here;
      for (std::size_t m = 0; m < members.size(); ++m) {
        if (std::ranges::count(stages_of[m], stage) > 0) here.push_back(members[m]);
      }
      if (here.empty()) continue;
      do {
        std::int64_t total = 0;
        const auto place_at = [&](int t) -> BucketPlace& {
          return places_[static_cast<std::size_t>(place_of_[static_cast<std::size_t>(t)])];
        };
        const auto part_of = [&](const BucketPlace& place) {
          return static_cast<std::size_t>(PartOf(mesh, place.axes, at));
        };
        for (int t : here) {
          BucketPlace& place = place_at(t);
          place.start[part_of(place)] = total;
          total += CutElements(mesh, spec_of(t), at);
        }
        for (int t : here) {
          BucketPlace& place = place_at(t);
          place.total[part_of(place)] = total;
        }
      } while (NextCoordinates(mesh, axes, at));
    }
  }
}

const BucketPlace* Buckets::Find(int tensor) const {
  if (place_of_.empty()) return nullptr;
  const int place = place_of_[static_cast<std::size_t>(tensor)];
  return place < 0 ? nullptr : &places_[static_cast<std::size_t>(place)];
}

}  // namespace tessera::ptc
