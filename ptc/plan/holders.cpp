// SPDX-License-Identifier: Apache-2.0
#include "ptc/plan/holders.h"

#include <algorithm>

#include "ptc/base/at.h"

namespace tessera::ptc {
namespace {}  // namespace

std::optional<std::span<const int>> ClassHolders::OnHost(int host) const {
  const auto at = std::lower_bound(hosts.begin(), hosts.end(), host);
  if (at == hosts.end() || *at != host) return std::nullopt;
  const auto h = static_cast<std::size_t>(at - hosts.begin());
  return std::span(devices).subspan(first[h], first[h + 1] - first[h]);
}

Holders::Holders(const Kinds& kinds, const Classes& classes, const DeviceTable& table)
    : kinds_(kinds), classes_(classes), table_(table), known_(classes.list().size()) {
  for (int axes = 0; axes < kinds.from.num_axes_ids(); ++axes) {
    const std::size_t parts = At(kinds.from.num_parts(axes));
    const auto place = [&](int rank) {
      return At(kinds.from.StageOf(rank)) * parts + At(kinds.from.PartOf(axes, rank));
    };
    Sorted& sorted = by_part_.emplace_back();
    sorted.first.resize(At(kinds.from.num_stages()) * parts + 1);
    for (const auto& rank : table.from) {
      if (rank) ++sorted.first[place(*rank) + 1];
    }
    for (std::size_t p = 1; p < sorted.first.size(); ++p) sorted.first[p] += sorted.first[p - 1];
    std::vector<std::size_t> next = sorted.first;
    sorted.devices.resize(sorted.first.back());
    for (std::size_t d = 0; d < table.from.size(); ++d) {
      if (table.from[d]) sorted.devices[next[place(*table.from[d])]++] = static_cast<int>(d);
    }
  }
}

void Holders::List(const HeldClass& held_class, std::vector<int>& devices) const {
  const Sorted& sorted = by_part_[At(held_class.from_axes)];
  const std::size_t parts = At(kinds_.from.num_parts(held_class.from_axes));
  for (std::int64_t stage : kinds_.from.stages(held_class.from_stages)) {
    for (std::size_t part : held_class.parts) {
      const std::size_t place = static_cast<std::size_t>(stage) * parts + part;
      for (std::size_t i = sorted.first[place]; i < sorted.first[place + 1]; ++i) {
        devices.push_back(sorted.devices[i]);
      }
    }
  }
  std::sort(devices.begin(), devices.end(), [&](int a, int b) {
    return std::pair(table_.host[At(a)], a) < std::pair(table_.host[At(b)], b);
  });
}

const ClassHolders& Holders::Of(int held_class) {
  std::optional<ClassHolders>& known = known_[At(held_class)];
  if (known) return *known;
  ClassHolders& holders = known.emplace();
  List(classes_.list()[At(held_class)], holders.devices);
  for (std::size_t i = 0; i < holders.devices.size(); ++i) {
    const int host = table_.host[At(holders.devices[i])];
    if (!holders.hosts.empty() && holders.hosts.back() == host) continue;
    holders.hosts.push_back(host);
    holders.first.push_back(i);
  }
  holders.first.push_back(holders.devices.size());
  return holders;
}

const ClassHolders& Holders::Of(int held_class) const { return *known_[At(held_class)]; }

}  // namespace tessera::ptc
