// SPDX-License-Identifier: Apache-2.0
#include "ptc/plan/needs.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "ptc/base/at.h"
#include "ptc/plan/staged.h"

namespace tessera::ptc {
namespace {

/// Element sizes are 1, 2, 4 and 8; half of a size is less than kSizes.
constexpr std::size_t kSizes = 5;

}  // namespace

NeedsOfRanks::NeedsOfRanks(const Kinds& kinds, const Classes& classes)
    : kinds_(kinds),
      classes_(classes),
      staged_on_(StagedByStage(kinds, kinds.to, &KindOnStages::to_stages)),
      group_of_(kinds.to.Groups()),
      known_(group_of_.size()),
      slot_(classes.list().size() * kSizes, -1) {}

const std::vector<Need>& NeedsOfRanks::Of(int rank) {
  std::optional<std::vector<Need>>& known = known_[At(group_of_[At(rank)])];
  if (!known) known = Sum(rank);
  return *known;
}

std::vector<Need> NeedsOfRanks::Sum(int rank) {
  std::vector<Need> needs;
  for (std::size_t s : staged_on_[At(kinds_.to.StageOf(rank))]) {
    const KindOnStages& staged = kinds_.staged[s];
    const Kind& kind = kinds_.kinds[At(staged.kind)];
    const int element_bytes = static_cast<int>(SizeBytes(kind.from_dtype));
    for (int c : kind.needed_cells[At(kinds_.to.PartOf(kind.to_axes, rank))]) {
      const int held_class = classes_.Of(s, At(c));
      int& slot = slot_[At(held_class) * kSizes + At(element_bytes / 2)];
      if (slot < 0) {
        slot = static_cast<int>(needs.size());
        needs.push_back({held_class, element_bytes, 0});
      }
      needs[At(slot)].bytes += kind.elements[At(c)] * element_bytes * staged.num_tensors;
    }
  }
  for (const Need& need : needs) {
    slot_[At(need.held_class) * kSizes + At(need.element_bytes / 2)] = -1;
  }
  std::sort(needs.begin(), needs.end(), [](const Need& a, const Need& b) {
    return std::tie(a.held_class, a.element_bytes) < std::tie(b.held_class, b.element_bytes);
  });
  return needs;
}

Classes::Classes(const Kinds& kinds) : kinds_(kinds) {
  // Sets of parts that hold cells: by kind and number within the kind, the number over all kinds.
  std::vector<std::vector<int>> sets_of_kind;
  std::map<std::pair<int, std::vector<std::size_t>>, int> numbers;
  std::vector<const std::pair<const std::pair<int, std::vector<std::size_t>>, int>*> sets;
  for (const Kind& kind : kinds.kinds) {
    std::vector<int>& of_cell = holders_of_cell_.emplace_back();
    std::vector<int>& local = sets_of_kind.emplace_back();
    std::map<int, int> local_number;
    for (const Cell& cell : kind.cells) {
      const auto [it, is_new] = numbers.try_emplace({kind.from_axes, cell.holders.ToVector()},
                                                    static_cast<int>(sets.size()));
      if (is_new) sets.push_back(&*it);
      const auto [own, is_first] =
          local_number.try_emplace(it->second, static_cast<int>(local.size()));
      if (is_first) local.push_back(it->second);
      of_cell.push_back(own->second);
    }
  }
  std::map<int, std::vector<int>> class_of;  // by stages and set
  for (const KindOnStages& staged : kinds.staged) {
    std::vector<int>& by_set = class_of[staged.from_stages];
    by_set.resize(sets.size(), -1);
    std::vector<int>& classes = by_holders_.emplace_back();
    for (int set : sets_of_kind[At(staged.kind)]) {
      int& held_class = by_set[At(set)];
      if (held_class < 0) {
        held_class = static_cast<int>(list_.size());
        const auto& [axes, parts] = sets[At(set)]->first;
        list_.push_back({staged.from_stages, axes, parts});
      }
      classes.push_back(held_class);
    }
  }
}

bool Classes::Holds(int held_class, int old_rank) const {
  const HeldClass& c = list_[At(held_class)];
  if (!kinds_.from.IsOn(c.from_stages, kinds_.from.StageOf(old_rank))) return false;
  const std::size_t part = At(kinds_.from.PartOf(c.from_axes, old_rank));
  return std::binary_search(c.parts.begin(), c.parts.end(), part);
}

Needs FindNeeds(const Kinds& kinds, const Classes& classes, const DeviceTable& table) {
  Needs found;
  found.stay_bytes.resize(table.devices.size());
  NeedsOfRanks needs(kinds, classes);
  for (std::size_t d = 0; d < table.devices.size(); ++d) {
    if (!table.to[d]) continue;
    for (const Need& need : needs.Of(*table.to[d])) {
      if (table.from[d] && classes.Holds(need.held_class, *table.from[d])) {
        found.stay_bytes[d] += need.bytes;
      } else {
        found.demands.push_back(
            {static_cast<int>(d), need.held_class, need.element_bytes, need.bytes});
      }
    }
  }
  return found;
}

}  // namespace tessera::ptc
