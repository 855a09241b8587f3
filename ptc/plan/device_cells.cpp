// SPDX-License-Identifier: Apache-2.0
#include "ptc/plan/device_cells.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "ptc/base/at.h"

namespace tessera::ptc {

DeviceCells::DeviceCells(const Layout& from, const Layout& to, CellOwners owners,
                         const std::vector<DeviceId>& lost)
    : owners_(owners), kinds_(MakeKinds(from, to)) {
  for (const Kind& kind : kinds_.kinds) {
    auto& by_part = cells_of_part_.emplace_back(At(ranks().num_parts(AxesOf(kind))));
    for (std::size_t c = 0; c < kind.cells.size(); ++c) {
      for (const std::size_t part : PartsOf(kind.cells[c])) {
        by_part[part].push_back(static_cast<int>(c));
      }
    }
  }
  std::vector<DeviceId> sorted;
  if (owners == CellOwners::kHolders) sorted = lost;
  std::sort(sorted.begin(), sorted.end());
  ListDevices(sorted);
  MakeGroups();
}

void DeviceCells::ListDevices(const std::vector<DeviceId>& lost) {
  const DeviceMesh& mesh = ranks().mesh();
  for (int axes = 0; axes < ranks().num_axes_ids(); ++axes) {
    auto& by_part = devices_.emplace_back(At(ranks().num_stages()) * At(ranks().num_parts(axes)));
    for (int rank = 0; rank < mesh.num_ranks(); ++rank) {
      const DeviceId device = mesh.devices()[At(rank)];
      if (std::binary_search(lost.begin(), lost.end(), device)) continue;
      const std::size_t part = At(ranks().PartOf(axes, rank));
      by_part[At(ranks().StageOf(rank)) * At(ranks().num_parts(axes)) + part].push_back(device);
    }
    for (std::vector<DeviceId>& devices : by_part) std::sort(devices.begin(), devices.end());
  }
}

template <typename Visit>
void DeviceCells::ForEachPart(const Group& group, const Visit& visit) const {
  const std::size_t num_parts = At(ranks().num_parts(group.axes));
  for (const std::int64_t stage : ranks().stages(group.stages)) {
    for (const std::size_t part : group.parts) {
      visit(devices_[At(group.axes)][static_cast<std::size_t>(stage) * num_parts + part]);
    }
  }
}

// Numbered in the order of tensors and cells, which the layouts determine.
void DeviceCells::MakeGroups() {
  std::map<std::tuple<int, int, std::vector<std::size_t>>, int> known;
  for (const KindOnStages& staged : kinds_.staged) {
    const Kind& kind = kinds_.kinds[At(staged.kind)];
    std::vector<int>& numbers = group_of_cell_.emplace_back();
    numbers.reserve(kind.cells.size());
    for (const Cell& cell : kind.cells) {
      const int axes = AxesOf(kind);
      const int stages = StagesOf(staged);
      const auto [found, is_new] = known.try_emplace({axes, stages, PartsOf(cell)}, num_groups());
      if (is_new) groups_.push_back({axes, stages, PartsOf(cell), 0, {}});
      numbers.push_back(found->second);
    }
  }
  for (Group& group : groups_) {
    ForEachPart(group, [&](const std::vector<DeviceId>& devices) {
      group.num_owners += devices.size();
      if (devices.empty()) return;
      group.lowest = std::min(group.lowest.value_or(devices.front()), devices.front());
    });
  }
}

std::vector<DeviceCells::Entry> DeviceCells::Of(DeviceId device) const {
  std::vector<Entry> out;
  const auto rank = ranks().mesh().RankOf(device);
  if (!rank) return out;
  const int stage = ranks().StageOf(*rank);
  for (std::size_t t = 0; t < kinds_.staged_of_tensor.size(); ++t) {
    const std::size_t at = At(kinds_.staged_of_tensor[t]);
    const KindOnStages& staged = kinds_.staged[at];
    if (!ranks().IsOn(StagesOf(staged), stage)) continue;
    const Kind& kind = kinds_.kinds[At(staged.kind)];
    const std::size_t part = At(ranks().PartOf(AxesOf(kind), *rank));
    for (const int c : cells_of_part_[At(staged.kind)][part]) {
      out.push_back({static_cast<int>(t), &kind.cells[At(c)].box, group_of_cell_[at][At(c)]});
    }
  }
  return out;
}

std::vector<DeviceId> DeviceCells::OwnersOf(int group) const {
  std::vector<DeviceId> out;
  ForEachPart(GroupAt(group), [&](const std::vector<DeviceId>& devices) {
    out.insert(out.end(), devices.begin(), devices.end());
  });
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace tessera::ptc
