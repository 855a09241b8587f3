// SPDX-License-Identifier: Apache-2.0
#include "ptc/plan/placed_cells.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "ptc/base/at.h"

namespace tessera::ptc {
namespace {

/// Lists the devices of one layout by stages and parts, each list once.
class DeviceLists {
 public:
  DeviceLists(const RankParts& ranks, std::vector<std::vector<DeviceId>>& lists)
      : ranks_(ranks), lists_(lists), by_part_(At(ranks.num_axes_ids())) {}

  /// The index of the list of all devices with one of `parts` on one of the stages.
  std::size_t Find(int axes, int stages, const std::vector<std::size_t>& parts) {
    const auto [known, is_new] = known_.try_emplace({axes, stages, parts}, lists_.size());
    if (is_new) lists_.push_back(List(axes, stages, parts));
    return known->second;
  }

 private:
  std::vector<DeviceId> List(int axes, int stages, const std::vector<std::size_t>& parts) {
    const std::size_t num_parts = At(ranks_.num_parts(axes));
    auto& by_part = by_part_[At(axes)];
    if (by_part.empty()) {
      by_part.resize(At(ranks_.num_stages()) * num_parts);
      for (int rank = 0; rank < ranks_.mesh().num_ranks(); ++rank) {
        by_part[At(ranks_.StageOf(rank)) * num_parts + At(ranks_.PartOf(axes, rank))].push_back(
            ranks_.mesh().devices()[At(rank)]);
      }
    }
    std::vector<DeviceId> devices;
    for (const std::int64_t stage : ranks_.stages(stages)) {
      for (const std::size_t part : parts) {
        const auto& here = by_part[static_cast<std::size_t>(stage) * num_parts + part];
        devices.insert(devices.end(), here.begin(), here.end());
      }
    }
    std::sort(devices.begin(), devices.end());
    return devices;
  }

  const RankParts& ranks_;
  std::vector<std::vector<DeviceId>>& lists_;
  std::vector<std::vector<std::vector<DeviceId>>> by_part_;  // by AxesId and (stage, part)
  std::map<std::tuple<int, int, std::vector<std::size_t>>, std::size_t> known_;
};

}  // namespace

PlacedCells::PlacedCells(const Layout& from, const Layout& to) : kinds_(MakeKinds(from, to)) {
  DeviceLists old_devices(kinds_.from, lists_);
  DeviceLists new_devices(kinds_.to, lists_);
  for (const KindOnStages& staged : kinds_.staged) {
    const Kind& kind = kinds_.kinds[At(staged.kind)];
    auto& holders = holders_.emplace_back();
    auto& needers = needers_.emplace_back();
    for (const Cell& cell : kind.cells) {
      holders.push_back(
          old_devices.Find(kind.from_axes, staged.from_stages, cell.holders.ToVector()));
      needers.push_back(new_devices.Find(kind.to_axes, staged.to_stages, cell.needers.ToVector()));
    }
  }
}

}  // namespace tessera::ptc
