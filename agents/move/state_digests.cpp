// SPDX-License-Identifier: Apache-2.0
#include "agents/move/state_digests.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include "engine/copy/checksum.h"
#include "ptc/base/check.h"

namespace tessera::agents {

SideDigests Summarize(const ptc::DeviceCells& cells, const std::vector<DeviceDigests>& devices) {
  SideDigests out;
  for (const DeviceDigests& device : devices) {
    const std::vector<ptc::DeviceCells::Entry> entries = cells.Of(device.device);
    TESSERA_CHECK(entries.size() == device.digests.size());
    std::map<int, std::vector<std::uint64_t>> groups;
    for (std::size_t i = 0; i < entries.size(); ++i) {
      const int group = entries[i].group;
      if (cells.Representative(group) == device.device && device.digests[i] != 0) {
        out.sums[entries[i].tensor] += device.digests[i];
      }
      if (cells.NumOwners(group) > 1) groups[group].push_back(device.digests[i]);
    }
    for (const auto& [group, digests] : groups) {
      out.groups.push_back(
          {device.device, group, engine::Checksum(std::as_bytes(std::span(digests)))});
    }
  }
  return out;
}

SideDigests SummarizeDropped(const ptc::DeviceCells& held, const ptc::DroppedGroups& dropped,
                             const std::vector<DeviceDigests>& devices) {
  SideDigests out = Summarize(held, devices);
  out.sums.clear();
  std::erase_if(out.groups, [&](const GroupHash& row) {
    return !std::ranges::binary_search(dropped.at(row.device), row.group);
  });
  return out;
}

JobDigest AddUp(const ptc::Collection& collection, const std::vector<const SideDigests*>& nodes) {
  JobDigest out;
  out.tensors.resize(collection.tensors().size());
  for (const SideDigests* node : nodes) {
    for (const auto& [tensor, sum] : node->sums) {
      if (tensor < 0 || tensor >= std::ssize(out.tensors)) continue;
      out.tensors[static_cast<std::size_t>(tensor)] += sum;
    }
  }
  out.digest = ptc::CollectionDigest(collection, out.tensors);
  return out;
}

std::vector<GroupDifference> FindDifferences(const std::vector<const SideDigests*>& nodes) {
  struct Group {
    std::uint64_t first = 0;
    bool differs = false;
    std::vector<ptc::DeviceId> devices;
  };
  std::map<int, Group> groups;
  for (const SideDigests* node : nodes) {
    for (const GroupHash& row : node->groups) {
      Group& group = groups[row.group];
      if (group.devices.empty()) group.first = row.hash;
      group.differs = group.differs || group.first != row.hash;
      group.devices.push_back(row.device);
    }
  }
  std::vector<GroupDifference> out;
  for (auto& [number, group] : groups) {
    if (!group.differs) continue;
    std::sort(group.devices.begin(), group.devices.end());
    out.push_back({number, std::move(group.devices)});
  }
  return out;
}

std::vector<std::uint64_t> OfGroup(const ptc::DeviceCells& cells, const DeviceDigests& device,
                                   int group) {
  const std::vector<ptc::DeviceCells::Entry> entries = cells.Of(device.device);
  TESSERA_CHECK(entries.size() == device.digests.size());
  std::vector<std::uint64_t> out;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (entries[i].group == group) out.push_back(device.digests[i]);
  }
  return out;
}

std::string DescribeDifference(const ptc::Collection& collection, const ptc::DeviceCells& cells,
                               int group, const std::vector<DeviceDigests>& devices) {
  if (devices.empty()) return {};
  const DeviceDigests& first = devices.front();
  std::size_t at = 0;  // in the cells of the group
  for (const ptc::DeviceCells::Entry& entry : cells.Of(first.device)) {
    if (entry.group != group) continue;
    for (const DeviceDigests& other : devices) {
      if (at >= first.digests.size() || at >= other.digests.size()) return {};
      if (other.digests[at] == first.digests[at]) continue;
      return fmt::format("tensor '{}' {}: {} holds digest {}, {} holds {}",
                         collection.tensors()[static_cast<std::size_t>(entry.tensor)].name,
                         ToString(*entry.box), ToString(first.device),
                         ptc::Hex16(first.digests[at]), ToString(other.device),
                         ptc::Hex16(other.digests[at]));
    }
    ++at;
  }
  return {};
}

}  // namespace tessera::agents
