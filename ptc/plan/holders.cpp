// SPDX-License-Identifier: Apache-2.0
#include "ptc/plan/holders.h"

#include <algorithm>
#include <utility>

#include "ptc/base/at.h"
#include "ptc/plan/sort_by.h"

namespace tessera::ptc {
namespace {

/// The devices of an old layout in the order of (stage, part), for one list of axes.
struct DevicesByPart {
  DevicesByPart(const RankParts& ranks, int axes, const DeviceTable& table)
      : parts(At(ranks.num_parts(axes))) {
    for (std::size_t d = 0; d < table.from.size(); ++d) {
      if (table.from[d]) devices.push_back(static_cast<int>(d));
    }
    first = SortByNumber(devices, At(ranks.num_stages()) * parts, [&](int device) {
      const int rank = *table.from[At(device)];
      return ranks.StageOf(rank) * ranks.num_parts(axes) + ranks.PartOf(axes, rank);
    });
  }
  std::span<const int> On(std::size_t stage, std::size_t part) const {
    const std::size_t place = stage * parts + part;
    return std::span(devices).subspan(first[place], first[place + 1] - first[place]);
  }

  std::size_t parts;
  std::vector<int> devices;
  std::vector<std::size_t> first;  // by (stage, part), and the end
};

}  // namespace

std::optional<std::span<const int>> ClassHolders::OnHost(int host) const {
  const auto at = std::lower_bound(hosts.begin(), hosts.end(), host);
  if (at == hosts.end() || *at != host) return std::nullopt;
  const auto h = static_cast<std::size_t>(at - hosts.begin());
  return devices.subspan(first[h], first[h + 1] - first[h]);
}

Holders::Holders(const Kinds& kinds, const Classes& classes, const DeviceTable& table) {
  std::vector<DevicesByPart> by_part;
  for (int axes = 0; axes < kinds.from.num_axes_ids(); ++axes) {
    by_part.emplace_back(kinds.from, axes, table);
  }
  const auto by_host = [&](int a, int b) {
    return std::pair(table.host[At(a)], a) < std::pair(table.host[At(b)], b);
  };
  for (const HeldClass& held_class : classes.list()) {
    const std::size_t begin = devices_.size();
    device_begin_.push_back(begin);
    host_begin_.push_back(hosts_.size());
    for (const std::int64_t stage : kinds.from.stages(held_class.from_stages)) {
      for (const std::size_t part : held_class.parts) {
        const auto here =
            by_part[At(held_class.from_axes)].On(static_cast<std::size_t>(stage), part);
        devices_.insert(devices_.end(), here.begin(), here.end());
      }
    }
    std::sort(devices_.begin() + static_cast<std::ptrdiff_t>(begin), devices_.end(), by_host);
    for (std::size_t i = begin; i < devices_.size(); ++i) {
      const int host = table.host[At(devices_[i])];
      if (i > begin && hosts_.back() == host) continue;
      hosts_.push_back(host);
      first_.push_back(i - begin);
    }
    first_.push_back(devices_.size() - begin);
  }
  device_begin_.push_back(devices_.size());
  host_begin_.push_back(hosts_.size());
}

ClassHolders Holders::Of(int held_class) const {
  const std::size_t c = At(held_class);
  const std::size_t num_hosts = host_begin_[c + 1] - host_begin_[c];
  return {std::span(devices_).subspan(device_begin_[c], device_begin_[c + 1] - device_begin_[c]),
          std::span(hosts_).subspan(host_begin_[c], num_hosts),
          // Each class before has one more entry than hosts.
          std::span(first_).subspan(host_begin_[c] + c, num_hosts + 1)};
}

}  // namespace tessera::ptc
