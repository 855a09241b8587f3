// SPDX-License-Identifier: Apache-2.0
#include "agents/move/cell_digests.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "ptc/plan/placed_cells.h"

namespace tessera::agents {

std::vector<JobCell> FindCells(const ptc::Layout& from, const ptc::Layout& to,
                               const std::vector<ptc::DeviceId>& lost) {
  const ptc::PlacedCells cells(from, to);
  std::vector<JobCell> out;
  const int num_tensors = static_cast<int>(from.collection().tensors().size());
  for (int t = 0; t < num_tensors; ++t) {
    cells.ForEach(t, [&](const ptc::Box& cell, const auto& holders, const auto& needers) {
      JobCell& added = out.emplace_back(JobCell{t, cell, holders, needers});
      std::erase_if(added.holders, [&](ptc::DeviceId holder) {
        return std::find(lost.begin(), lost.end(), holder) != lost.end();
      });
    });
  }
  return out;
}

Result<JobDigest> CombineDigests(const ptc::Collection& collection,
                                 const std::vector<JobCell>& cells, CellSide side,
                                 const std::vector<DeviceDigests>& reports) {
  std::map<ptc::DeviceId, std::pair<const std::vector<std::uint64_t>*, std::size_t>> next;
  for (const DeviceDigests& report : reports) next[report.device] = {&report.digests, 0};
  JobDigest out;
  out.tensors.resize(collection.tensors().size());
  for (const JobCell& cell : cells) {
    const std::string& name = collection.tensors()[static_cast<std::size_t>(cell.tensor)].name;
    const auto& devices = side == CellSide::kHolders ? cell.holders : cell.needers;
    std::optional<std::uint64_t> first;
    for (const ptc::DeviceId device : devices) {
      const auto it = next.find(device);
      if (it == next.end() || it->second.second >= it->second.first->size()) {
        return InvalidArgument(fmt::format("tensor '{}' {}: {} reported no digest", name,
                                           ToString(cell.box), ToString(device)));
      }
      const std::uint64_t digest = (*it->second.first)[it->second.second++];
      if (first && *first != digest) {
        return DataLoss(fmt::format("tensor '{}' {}: {} holds digest {}, {} holds {}", name,
                                    ToString(cell.box), ToString(devices.front()),
                                    ptc::Hex16(*first), ToString(device), ptc::Hex16(digest)));
      }
      first = digest;
    }
    if (!first) {
      return InvalidArgument(
          fmt::format("tensor '{}' {}: no device holds it", name, ToString(cell.box)));
    }
    out.cells.push_back(*first);
    out.tensors[static_cast<std::size_t>(cell.tensor)] += *first;
  }
  for (const auto& [device, progress] : next) {
    if (progress.second != progress.first->size()) {
      return InvalidArgument(fmt::format("{} reported {} digests, it has {} cells",
                                         ToString(device), progress.first->size(),
                                         progress.second));
    }
  }
  out.digest = ptc::CollectionDigest(collection, out.tensors);
  return out;
}

}  // namespace tessera::agents
