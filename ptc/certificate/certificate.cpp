// SPDX-License-Identifier: Apache-2.0
#include "ptc/certificate/certificate.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <numeric>
#include <utility>

#include "ptc/base/at.h"
#include "ptc/certificate/move_classes.h"
#include "ptc/certificate/port_times.h"
#include "ptc/certificate/price_bound.h"

namespace tessera::ptc {
namespace {

/// The hosts of devices, or the racks of hosts, by position.
struct Grouping {
  std::vector<int> of;             // by member: its group
  std::vector<std::int32_t> name;  // by group
};
template <typename Members, typename NameOf>
Grouping GroupBy(const Members& members, const NameOf& name_of) {
  std::map<std::int32_t, int> positions;
  for (const auto& member : members) positions.emplace(name_of(member), 0);
  Grouping grouping;
  for (auto& [name, position] : positions) {
    position = static_cast<int>(grouping.name.size());
    grouping.name.push_back(name);
  }
  for (const auto& member : members) grouping.of.push_back(positions[name_of(member)]);
  return grouping;
}

/// The ports of one kind, by direction, for direct sends and for relays.
struct PortsByUse {
  explicit PortsByUse(const std::vector<double>& speeds)
      : direct_in(speeds), direct_out(speeds), relayed_in(speeds), relayed_out(speeds) {}
  PortTimes direct_in, direct_out, relayed_in, relayed_out;
};

/// Raises `bound` to the least time of `times` if that is longer.
void Raise(PortBound& bound, const PortTimes& times, std::string_view direction,
           const std::function<std::string(int)>& name) {
  const PortTimes::Bound least = times.Least();
  if (least.seconds <= bound.seconds) return;
  bound = {least.seconds, least.bytes, fmt::format("{} {}", name(least.port), direction),
           least.num_ports};
}

/// Sums up the loads of all classes.
class Certifier {
 public:
  Certifier(MoveClasses moves, const Topology& topology, const PortPrices& prices)
      : moves_(std::move(moves)),
        topology_(topology),
        hosts_(GroupBy(moves_.devices, [&](DeviceId device) { return topology.HostOf(device); })),
        racks_(GroupBy(hosts_.name, [&](std::int32_t host) { return topology.RackOf(host); })),
        device_ports_(std::vector<double>(moves_.devices.size(), topology.host_bytes_per_second)),
        host_ports_(SpeedsOfHosts()),
        rack_ports_(
            std::vector<double>(racks_.name.size(), topology.rack_bytes_per_second.value_or(1.0))),
        into_racks_(SpeedsOfHostsAndRacks()),
        out_of_racks_(SpeedsOfHostsAndRacks()),
        at_prices_(prices, {hosts_.name, racks_.name, racks_.of, SpeedsOfHosts(),
                            topology.rack_bytes_per_second.value_or(1.0)}) {
    result_.peak_memory.resize(moves_.devices.size());
    further_inside_.resize(hosts_.name.size());
  }

  Certificate Run() && {
    for (const MoveClass& c : moves_.classes) Count(c);
    CountFurther();
    const auto device = [&](int d) { return ToString(moves_.devices[At(d)]); };
    const auto host = [&](int h) { return fmt::format("n{}", hosts_.name[At(h)]); };
    const auto rack = [&](int r) { return fmt::format("rack {}", racks_.name[At(r)]); };
    RaiseAll(device_ports_, device);
    RaiseAll(host_ports_, host);
    if (topology_.rack_bytes_per_second) {
      Raise(result_.relayed, rack_ports_.relayed_in, "in", rack);
      Raise(result_.relayed, rack_ports_.relayed_out, "out", rack);
      RaiseByRacks(into_racks_, "in");
      RaiseByRacks(out_of_racks_, "out");
      RaiseByPrices();
    }
    return std::move(result_);
  }

 private:
  std::vector<double> SpeedsOfHosts() const {
    std::vector<double> speeds;
    for (std::int32_t host : hosts_.name) speeds.push_back(topology_.NetworkOf(host));
    return speeds;
  }

  /// The ports of sending hosts, followed by those of racks in one direction.
  std::vector<double> SpeedsOfHostsAndRacks() const {
    std::vector<double> speeds = SpeedsOfHosts();
    speeds.resize(speeds.size() + racks_.name.size(),
                  topology_.rack_bytes_per_second.value_or(1.0));
    return speeds;
  }
  int RackPort(int rack) const { return static_cast<int>(hosts_.name.size()) + rack; }

  void RaiseByRacks(const PortTimes& times, std::string_view direction) {
    const PortTimes::Bound least = times.Least();
    if (least.seconds <= result_.direct.seconds) return;
    const int rack = least.port - RackPort(0);
    const std::string port = rack < 0 ? fmt::format("n{} out", hosts_.name[At(least.port)])
                                      : fmt::format("rack {} {}", racks_.name[At(rack)], direction);
    result_.direct = {least.seconds, least.bytes, port, least.num_ports};
  }

  void RaiseByPrices() {
    const PriceBound::Bound least = at_prices_.Least();
    if (least.seconds <= result_.direct.seconds) return;
    const bool is_host = least.kind == PriceBound::PortKind::kOutOfHost;
    const std::string port = fmt::format(
        "{}{} {}", is_host ? "n" : "rack ", (is_host ? hosts_ : racks_).name[At(least.position)],
        least.kind == PriceBound::PortKind::kIntoRack ? "in" : "out");
    result_.direct = {least.seconds, least.bytes, port, least.num_ports};
  }

  void RaiseAll(const PortsByUse& ports, const std::function<std::string(int)>& name) {
    Raise(result_.direct, ports.direct_in, "in", name);
    Raise(result_.direct, ports.direct_out, "out", name);
    Raise(result_.relayed, ports.relayed_in, "in", name);
    Raise(result_.relayed, ports.relayed_out, "out", name);
  }

  /// The groups of the members, ascending, each once.
  static std::vector<int> GroupsOf(const std::vector<int>& members, const Grouping& grouping) {
    std::vector<int> groups;
    for (int member : members) groups.push_back(grouping.of[At(member)]);
    std::sort(groups.begin(), groups.end());
    groups.erase(std::unique(groups.begin(), groups.end()), groups.end());
    return groups;
  }

  void Count(const MoveClass& c) {
    const std::vector<int>& holders = moves_.sets[At(c.holders)];
    const std::vector<int>& needers = moves_.sets[At(c.needers)];
    for (int device : holders) Sum(result_.peak_memory[At(device)], c.bytes);
    std::vector<int> lacking;
    std::set_difference(needers.begin(), needers.end(), holders.begin(), holders.end(),
                        std::back_inserter(lacking));
    for (int device : lacking) Sum(result_.peak_memory[At(device)], c.needed_bytes);
    if (c.converted_bytes > 0) {  // the new elements need room beside the old ones
      std::vector<int> both;
      std::set_intersection(needers.begin(), needers.end(), holders.begin(), holders.end(),
                            std::back_inserter(both));
      for (int device : both) Sum(result_.peak_memory[At(device)], c.converted_bytes);
    }
    if (lacking.empty()) return;
    Sum(result_.volume, Times(lacking, c.bytes));
    if (holders.empty()) return CountStorage(lacking, c.bytes);
    if (holders.size() == 1) Sum(result_.single_source_bytes, c.bytes);

    const std::vector<int> holding_hosts = GroupsOf(holders, hosts_);
    std::vector<int> near;  // devices whose host holds the class
    std::vector<int> far;
    for (int device : lacking) {
      const bool is_near =
          std::binary_search(holding_hosts.begin(), holding_hosts.end(), hosts_.of[At(device)]);
      (is_near ? near : far).push_back(device);
    }
    if (!near.empty()) CountInside(holders, near, c.bytes);
    if (!far.empty()) CountNetwork(holding_hosts, far, c.bytes);
  }

  /// Counts bytes that devices receive from holders on their host.
  void CountInside(const std::vector<int>& holders, const std::vector<int>& near,
                   std::int64_t bytes) {
    std::map<int, std::pair<std::vector<int>, std::int64_t>> by_host;  // holders, number of needers
    for (int device : near) {
      device_ports_.direct_in.Add(device, bytes);
      device_ports_.relayed_in.Add(device, bytes);
      ++by_host[hosts_.of[At(device)]].second;
    }
    for (int device : holders) {
      const auto it = by_host.find(hosts_.of[At(device)]);
      if (it != by_host.end()) it->second.first.push_back(device);
    }
    for (const auto& [host, inside] : by_host) {
      device_ports_.direct_out.Add(inside.first, SaturatingMultiply(inside.second, bytes));
      device_ports_.relayed_out.Add(inside.first, bytes);
      Sum(further_inside_[At(host)], SaturatingMultiply(inside.second - 1, bytes));
    }
  }

  /// Counts bytes from storage: once per device if sent directly, once per host if relayed.
  void CountStorage(const std::vector<int>& lacking, std::int64_t bytes) {
    Sum(result_.storage_volume, Times(lacking, bytes));
    for (int device : lacking) {
      const int host = hosts_.of[At(device)];
      host_ports_.direct_in.Add(host, bytes);
      into_racks_.Add(RackPort(racks_.of[At(host)]), bytes);
      at_prices_.AddFromStorage(racks_.of[At(host)], bytes);
    }
    const std::vector<int> entered = GroupsOf(lacking, hosts_);
    for (int host : entered) host_ports_.relayed_in.Add(host, bytes);
    for (int rack : GroupsOf(entered, racks_)) rack_ports_.relayed_in.Add(rack, bytes);
    Sum(result_.network_volume, Times(entered, bytes));
  }

  /// Counts bytes that devices receive from other hosts.
  void CountNetwork(const std::vector<int>& holding_hosts, const std::vector<int>& far,
                    std::int64_t bytes) {
    for (int device : far) host_ports_.direct_in.Add(hosts_.of[At(device)], bytes);
    host_ports_.direct_out.Add(holding_hosts, Times(far, bytes));
    const std::vector<int> entered = GroupsOf(far, hosts_);
    for (int host : entered) host_ports_.relayed_in.Add(host, bytes);
    host_ports_.relayed_out.Add(holding_hosts, bytes);
    Sum(further_hosts_, SaturatingMultiply(std::ssize(entered) - 1, bytes));
    Sum(result_.network_volume, Times(entered, bytes));
    if (topology_.rack_bytes_per_second) CountRacks(holding_hosts, far, bytes);
  }

  /// Bytes that a rack needs are sent by one of its hosts, or they leave another rack and enter
  /// this one. So each byte uses one port of {hosts of the rack, port into it} and one port of
  /// {hosts of the rack, ports out of other racks}.
  void CountRacks(const std::vector<int>& holding_hosts, const std::vector<int>& far,
                  std::int64_t bytes) {
    const std::vector<int> holding_racks = GroupsOf(holding_hosts, racks_);
    std::map<int, std::int64_t> needed;  // by rack: number of devices
    for (int device : far) ++needed[racks_.of[At(hosts_.of[At(device)])]];
    for (const auto& [rack, devices] : needed) {
      std::vector<int> into;
      for (int host : holding_hosts) {
        if (racks_.of[At(host)] == rack) into.push_back(host);
      }
      std::vector<int> out_of = into;
      into.push_back(RackPort(rack));
      for (int other : holding_racks) {
        if (other != rack) out_of.push_back(RackPort(other));
      }
      into_racks_.Add(into, SaturatingMultiply(devices, bytes));
      out_of_racks_.Add(out_of, SaturatingMultiply(devices, bytes));
      at_prices_.Add(holding_hosts, rack, SaturatingMultiply(devices, bytes));
    }
    std::vector<int> crossing;  // racks with devices that need the class and no holder
    for (int device : far) {
      const int rack = racks_.of[At(hosts_.of[At(device)])];
      if (!std::binary_search(holding_racks.begin(), holding_racks.end(), rack)) {
        crossing.push_back(rack);
      }
    }
    if (crossing.empty()) return;
    std::sort(crossing.begin(), crossing.end());
    crossing.erase(std::unique(crossing.begin(), crossing.end()), crossing.end());
    for (int rack : crossing) rack_ports_.relayed_in.Add(rack, bytes);
    rack_ports_.relayed_out.Add(holding_racks, bytes);
    Sum(further_racks_, SaturatingMultiply(std::ssize(crossing) - 1, bytes));
  }

  /// If plans relay bytes, only the first copy must leave a holder; any port may send the others.
  void CountFurther() {
    std::vector<std::vector<int>> devices_of(hosts_.name.size());
    for (std::size_t d = 0; d < hosts_.of.size(); ++d) {
      devices_of[At(hosts_.of[d])].push_back(static_cast<int>(d));
    }
    for (std::size_t host = 0; host < devices_of.size(); ++host) {
      device_ports_.relayed_out.Add(devices_of[host], further_inside_[host]);
    }
    const auto all = [](std::size_t count) {
      std::vector<int> positions(count);
      std::iota(positions.begin(), positions.end(), 0);
      return positions;
    };
    host_ports_.relayed_out.Add(all(hosts_.name.size()), further_hosts_);
    rack_ports_.relayed_out.Add(all(racks_.name.size()), further_racks_);
  }

  static void Sum(std::int64_t& total, std::int64_t bytes) { total = SaturatingAdd(total, bytes); }
  static std::int64_t Times(const std::vector<int>& members, std::int64_t bytes) {
    return SaturatingMultiply(std::ssize(members), bytes);
  }

  MoveClasses moves_;
  const Topology& topology_;
  Grouping hosts_;  // of devices
  Grouping racks_;  // of hosts
  PortsByUse device_ports_, host_ports_;
  PortsByUse rack_ports_;                // for relays
  PortTimes into_racks_, out_of_racks_;  // hosts, then racks; for direct sends
  PriceBound at_prices_;                 // hosts and both directions of racks; for direct sends
  // Bytes of copies beyond the first: inside each host, into hosts, into racks.
  std::vector<std::int64_t> further_inside_;
  std::int64_t further_hosts_ = 0;
  std::int64_t further_racks_ = 0;
  Certificate result_;
};

}  // namespace

Certificate Certify(const Layout& from, const Layout& to, const Topology& topology,
                    const std::vector<DeviceId>& lost, const PortPrices& prices) {
  return Certifier(ClassifyMoves(from, to, lost), topology, prices).Run();
}

}  // namespace tessera::ptc
