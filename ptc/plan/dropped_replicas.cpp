// SPDX-License-Identifier: Apache-2.0
#include "ptc/plan/dropped_replicas.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "ptc/base/at.h"

namespace tessera::ptc {

std::vector<int> DroppedReplicas(const DeviceCells& held, const DeviceCells& needed,
                                 DeviceId device) {
  // Whether all holders of cells of the first group need those that are also in the second one.
  std::map<std::pair<int, int>, bool> stay;
  const auto all_stay = [&](int holders, int needers) {
    const auto [known, is_new] = stay.try_emplace({holders, needers}, false);
    if (is_new) {
      const std::vector<DeviceId> all = needed.OwnersOf(needers);
      const std::vector<DeviceId> some = held.OwnersOf(holders);
      known->second = std::ranges::includes(all, some);
    }
    return known->second;
  };
  const std::vector<DeviceCells::Entry> needs = needed.Of(device);
  std::set<int> dropped;
  auto next = needs.begin();
  for (const auto& [tensor, box, group] : held.Of(device)) {
    if (held.NumOwners(group) < 2) continue;
    next = std::find_if(next, needs.end(), [&, tensor = tensor, box = box](const auto& entry) {
      return std::tie(entry.tensor, *entry.box) >= std::tie(tensor, *box);
    });
    const bool is_needed = next != needs.end() && next->tensor == tensor && *next->box == *box;
    if (!is_needed || !all_stay(group, next->group)) dropped.insert(group);
  }
  return {dropped.begin(), dropped.end()};
}

std::int64_t DroppedReplicaBytes(const Layout& from, const DeviceCells& held,
                                 const DeviceCells& needed, DeviceId device) {
  const std::vector<int> dropped = DroppedReplicas(held, needed, device);
  if (dropped.empty()) return 0;
  std::int64_t bytes = 0;
  for (const auto& [tensor, box, group] : held.Of(device)) {
    if (!std::ranges::binary_search(dropped, group)) continue;
    bytes += box->num_elements() * SizeBytes(from.collection().tensors()[At(tensor)].dtype);
  }
  return bytes;
}

std::int64_t DroppedReplicaBytes(const Layout& from, const Layout& to,
                                 const std::vector<DeviceId>& lost) {
  const DeviceCells held(from, to, CellOwners::kHolders, lost);
  const DeviceCells needed(from, to, CellOwners::kNeeders);
  std::set<DeviceId> lowest;
  for (int group = 0; group < held.num_groups(); ++group) {
    if (held.NumOwners(group) > 1) lowest.insert(*held.Representative(group));
  }
  std::int64_t most = 0;
  for (const DeviceId device : lowest) {
    most = std::max(most, DroppedReplicaBytes(from, held, needed, device));
  }
  return most;
}

}  // namespace tessera::ptc
