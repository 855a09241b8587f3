// SPDX-License-Identifier: Apache-2.0
#include "ptc/certificate/overlay.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace tessera::ptc {
namespace {

/// Gives each set of parts one number.
class SetTable {
 public:
  int Intern(std::vector<int> parts) {
    const auto [it, is_new] = ids_.try_emplace(parts, static_cast<int>(sets_.size()));
    if (is_new) sets_.push_back(std::move(parts));
    return it->second;
  }
  /// The union of sets.
  int Join(const std::vector<int>& ids) {
    if (ids.size() == 1) return ids.front();
    std::vector<int> parts;
    for (int id : ids) {
      const std::vector<int>& set = sets_[static_cast<std::size_t>(id)];
      parts.insert(parts.end(), set.begin(), set.end());
    }
    std::sort(parts.begin(), parts.end());
    parts.erase(std::unique(parts.begin(), parts.end()), parts.end());
    return Intern(std::move(parts));
  }
  std::vector<std::vector<int>> Take() && { return std::move(sets_); }

 private:
  std::map<std::vector<int>, int> ids_;
  std::vector<std::vector<int>> sets_;
};

/// A box of one side with the parts that hold it.
struct Item {
  Box box;
  bool is_new = false;  // whether it is of the new side
  int set = 0;
};

void AppendItems(const std::vector<std::vector<Box>>& parts, bool is_new, SetTable& sets,
                 std::vector<Item>& items) {
  std::vector<std::pair<Box, int>> all;
  for (std::size_t p = 0; p < parts.size(); ++p) {
    for (const Box& box : parts[p]) all.emplace_back(box, static_cast<int>(p));
  }
  std::sort(all.begin(), all.end());
  for (std::size_t i = 0; i < all.size();) {
    std::vector<int> holders;
    const Box box = all[i].first;
    for (; i < all.size() && all[i].first == box; ++i) holders.push_back(all[i].second);
    items.push_back({box, is_new, sets.Intern(std::move(holders))});
  }
}

class Sweep {
 public:
  Sweep(const std::vector<Item>& items, SetTable& from_sets, SetTable& to_sets)
      : items_(items), from_sets_(from_sets), to_sets_(to_sets) {}

  std::vector<Overlap> Run() && {
    std::vector<int> all;
    for (std::size_t i = 0; i < items_.size(); ++i) all.push_back(static_cast<int>(i));
    Slab(0, std::move(all), 1);
    std::sort(found_.begin(), found_.end(), [](const Overlap& a, const Overlap& b) {
      return std::tie(a.from, a.to) < std::tie(b.from, b.to);
    });
    std::vector<Overlap> merged;
    for (const Overlap& overlap : found_) {
      if (!merged.empty() && merged.back().from == overlap.from && merged.back().to == overlap.to) {
        merged.back().elements += overlap.elements;
      } else {
        merged.push_back(overlap);
      }
    }
    return merged;
  }

 private:
  const Interval& Range(int item, int dim) const {
    return items_[static_cast<std::size_t>(item)].box[dim];
  }

  /// `active` are the boxes that span the slab in all dims before `dim`. `size` is the product of
  /// the slab's sizes in these dims.
  void Slab(int dim, std::vector<int> active, std::int64_t size) {
    if (active.empty()) return;
    if (dim == items_[static_cast<std::size_t>(active.front())].box.rank()) {
      return Found(active, size);
    }
    std::vector<std::int64_t> cuts;
    for (int item : active) {
      cuts.push_back(Range(item, dim).begin);
      cuts.push_back(Range(item, dim).end);
    }
    std::sort(cuts.begin(), cuts.end());
    cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
    if (cuts.size() == 2) return Slab(dim + 1, std::move(active), size * (cuts[1] - cuts[0]));
    std::sort(active.begin(), active.end(), [&](int a, int b) {
      return std::pair(Range(a, dim).begin, a) < std::pair(Range(b, dim).begin, b);
    });
    std::vector<int> open;
    std::size_t next = 0;
    for (std::size_t c = 0; c + 1 < cuts.size(); ++c) {
      std::erase_if(open, [&](int item) { return Range(item, dim).end == cuts[c]; });
      while (next < active.size() && Range(active[next], dim).begin == cuts[c]) {
        open.push_back(active[next++]);
      }
      Slab(dim + 1, open, size * (cuts[c + 1] - cuts[c]));
    }
  }

  void Found(const std::vector<int>& active, std::int64_t elements) {
    std::vector<int> from;
    std::vector<int> to;
    for (int i : active) {
      const Item& item = items_[static_cast<std::size_t>(i)];
      (item.is_new ? to : from).push_back(item.set);
    }
    std::sort(from.begin(), from.end());
    std::sort(to.begin(), to.end());
    found_.push_back({from_sets_.Join(from), to_sets_.Join(to), elements});
  }

  const std::vector<Item>& items_;
  SetTable& from_sets_;
  SetTable& to_sets_;
  std::vector<Overlap> found_;
};

}  // namespace

Overlay MakeOverlay(const std::vector<std::vector<Box>>& from,
                    const std::vector<std::vector<Box>>& to) {
  SetTable from_sets;
  SetTable to_sets;
  std::vector<Item> items;
  AppendItems(from, false, from_sets, items);
  AppendItems(to, true, to_sets, items);
  Overlay overlay;
  overlay.overlaps = Sweep(items, from_sets, to_sets).Run();
  overlay.from_sets = std::move(from_sets).Take();
  overlay.to_sets = std::move(to_sets).Take();
  return overlay;
}

}  // namespace tessera::ptc
