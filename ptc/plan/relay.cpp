// SPDX-License-Identifier: Apache-2.0
#include "ptc/plan/relay.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "ptc/base/at.h"
#include "ptc/base/check.h"
#include "ptc/plan/staged.h"

namespace tessera::ptc {

std::int64_t Relay::RangeBegin(std::size_t i) const {
  const std::int64_t elements = bytes / element_bytes;
  const auto k = std::ssize(devices);
  const auto at = static_cast<std::int64_t>(i);
  // elements * at could overflow.
  return (elements / k * at + elements % k * at / k) * element_bytes;
}

std::int64_t Relay::ForwardedBy(std::size_t i) const {
  return RangeBytes(i) * (std::ssize(devices) - 1);
}

namespace {

/// Bytes of one class that some devices of a node need. Devices are positions within the node.
struct SharedNeed {
  int held_class = 0;
  int element_bytes = 1;
  std::vector<int> members;
  std::int64_t bytes = 0;
};

/// Finds what the ranks of a node need together. Nodes whose ranks are on the same stages and have
/// the same parts share the result.
class SharedNeeds {
 public:
  SharedNeeds(const Kinds& kinds, const Classes& classes)
      : kinds_(kinds),
        classes_(classes),
        staged_on_(StagedByStage(kinds, kinds.to, &KindOnStages::to_stages)),
        group_of_(kinds.to.Groups()) {
    std::size_t most_cells = 0;
    for (const Kind& kind : kinds.kinds) most_cells = std::max(most_cells, kind.cells.size());
    members_of_cell_.resize(most_cells);
  }

  /// What at least two of `ranks` need, ordered by class, element size and members. Valid as long
  /// as this object.
  const std::vector<SharedNeed>& Of(const std::vector<int>& ranks) {
    key_.clear();
    for (const int rank : ranks) key_.push_back(group_of_[At(rank)]);
    const auto [known, is_new] = known_.try_emplace(key_);
    if (is_new) known->second = Sum(ranks);
    return known->second;
  }

 private:
  std::vector<SharedNeed> Sum(const std::vector<int>& ranks) {
    std::vector<std::size_t> staged;
    for (const int rank : ranks) {
      const auto& here = staged_on_[At(kinds_.to.StageOf(rank))];
      staged.insert(staged.end(), here.begin(), here.end());
    }
    std::sort(staged.begin(), staged.end());
    staged.erase(std::unique(staged.begin(), staged.end()), staged.end());
    std::vector<SharedNeed> parts;  // of the needs, by kind of tensors
    for (const std::size_t s : staged) AddTensors(s, ranks, parts);
    const auto what = [](const SharedNeed& n) {
      return std::tie(n.held_class, n.element_bytes, n.members);
    };
    std::sort(parts.begin(), parts.end(),
              [&](const SharedNeed& a, const SharedNeed& b) { return what(a) < what(b); });
    std::vector<SharedNeed> needs;
    for (SharedNeed& part : parts) {
      if (!needs.empty() && what(needs.back()) == what(part)) {
        needs.back().bytes += part.bytes;
      } else {
        needs.push_back(std::move(part));
      }
    }
    return needs;
  }

  void AddTensors(std::size_t s, const std::vector<int>& ranks, std::vector<SharedNeed>& parts) {
    const KindOnStages& staged = kinds_.staged[s];
    const Kind& kind = kinds_.kinds[At(staged.kind)];
    std::vector<int> touched;
    for (std::size_t r = 0; r < ranks.size(); ++r) {
      if (!kinds_.to.IsOn(staged.to_stages, kinds_.to.StageOf(ranks[r]))) continue;
      for (const int c : kind.needed_cells[At(kinds_.to.PartOf(kind.to_axes, ranks[r]))]) {
        std::vector<int>& members = members_of_cell_[At(c)];
        if (members.empty()) touched.push_back(c);
        members.push_back(static_cast<int>(r));
      }
    }
    const auto element_bytes = static_cast<int>(SizeBytes(kind.from_dtype));
    for (const int c : touched) {
      std::vector<int>& members = members_of_cell_[At(c)];
      if (members.size() > 1) {
        parts.push_back({classes_.Of(s, At(c)), element_bytes, members,
                         kind.elements[At(c)] * element_bytes * staged.num_tensors});
      }
      members.clear();
    }
  }

  const Kinds& kinds_;
  const Classes& classes_;
  std::vector<std::vector<std::size_t>> staged_on_;            // by new stage
  std::vector<std::vector<int>> members_of_cell_;              // of the tensors being added
  std::vector<int> group_of_;                                  // by rank
  std::map<std::vector<int>, std::vector<SharedNeed>> known_;  // by groups of ranks
  std::vector<int> key_;
};

}  // namespace

std::vector<Relay> FindRelays(const Kinds& kinds, const Classes& classes, const DeviceTable& table,
                              const Holders& holders) {
  std::vector<Relay> relays;
  if (table.hosts.size() < 2) return relays;
  SharedNeeds needs(kinds, classes);
  std::vector<int> devices;  // of one node and in the new layout
  std::vector<int> ranks;
  for (std::size_t begin = 0; begin < table.devices.size();) {
    devices.clear();
    ranks.clear();
    std::size_t end = begin;
    for (; end < table.devices.size() && table.devices[end].node == table.devices[begin].node;
         ++end) {
      if (!table.to[end]) continue;
      devices.push_back(static_cast<int>(end));
      ranks.push_back(*table.to[end]);
    }
    const int host = table.host[begin];
    begin = end;
    if (devices.size() < 2) continue;
    for (const SharedNeed& need : needs.Of(ranks)) {
      const ClassHolders held = holders.Of(need.held_class);
      if (held.devices.empty() || held.OnHost(host)) continue;
      Relay& relay = relays.emplace_back();
      relay.held_class = need.held_class;
      relay.element_bytes = need.element_bytes;
      relay.bytes = need.bytes;
      for (const int member : need.members) relay.devices.push_back(devices[At(member)]);
    }
  }
  return relays;
}

std::vector<Demand> WithoutForwarded(std::vector<Demand> demands,
                                     const std::vector<Relay>& relays) {
  const auto key = [](const Demand& d) {
    return std::tuple(d.device, d.held_class, d.element_bytes);
  };
  for (const Relay& relay : relays) {
    for (std::size_t i = 0; i < relay.devices.size(); ++i) {
      const Demand wanted{relay.devices[i], relay.held_class, relay.element_bytes, 0};
      const auto found =
          std::lower_bound(demands.begin(), demands.end(), wanted,
                           [&key](const Demand& a, const Demand& b) { return key(a) < key(b); });
      TESSERA_CHECK(found != demands.end() && key(*found) == key(wanted));
      found->bytes -= relay.bytes - relay.RangeBytes(i);
    }
  }
  std::erase_if(demands, [](const Demand& demand) { return demand.bytes == 0; });
  return demands;
}

ForwardLoads::ForwardLoads(const std::vector<Relay>& relays, std::size_t num_devices)
    : out(num_devices), in(num_devices) {
  for (const Relay& relay : relays) {
    for (std::size_t i = 0; i < relay.devices.size(); ++i) {
      out[At(relay.devices[i])] += relay.ForwardedBy(i);
      in[At(relay.devices[i])] += relay.bytes - relay.RangeBytes(i);
      total += relay.ForwardedBy(i);
    }
  }
}

std::int64_t ForwardLoads::most() const {
  std::int64_t most = 0;
  for (const std::int64_t bytes : out) most = std::max(most, bytes);
  for (const std::int64_t bytes : in) most = std::max(most, bytes);
  return most;
}

}  // namespace tessera::ptc
