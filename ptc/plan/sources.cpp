// SPDX-License-Identifier: Apache-2.0
#include "ptc/plan/sources.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <tuple>

#include "ptc/base/at.h"
#include "ptc/plan/balance.h"
#include "ptc/plan/rack_balance.h"
#include "ptc/plan/sort_by.h"

namespace tessera::ptc {
namespace {

/// The speeds in whole bytes per second, in the largest unit that divides them all.
std::vector<std::int64_t> WholeSpeeds(const std::vector<double>& speeds) {
  constexpr double kMostSpeed = 1e15;
  std::vector<std::int64_t> whole;
  std::int64_t unit = 0;
  for (double speed : speeds) {
    const double bounded = speed >= 1 ? std::min(speed, kMostSpeed) : 1.0;
    whole.push_back(std::llround(bounded));
    unit = std::gcd(unit, whole.back());
  }
  for (std::int64_t& speed : whole) speed /= unit;
  return whole;
}

/// Bytes through the ports of one kind, by direction.
struct PortBytes {
  explicit PortBytes(std::size_t ports) : out(ports), in(ports) {}
  void Add(int source, int needer, std::int64_t bytes) {
    out[At(source)] += bytes;
    in[At(needer)] += bytes;
  }
  std::vector<std::int64_t> out, in;
};

/// A range of one demand with its source: a device, or at first only a host.
struct Part {
  int demand = 0;
  int source = 0;
  std::int64_t bytes = 0;
};

class Chooser {
 public:
  Chooser(const std::vector<Demand>& demands, const Holders& holders, const DeviceTable& table,
          const Topology& topology, const ForwardLoads& forwards)
      : demands_(demands),
        table_(table),
        topology_(topology),
        forwards_(forwards),
        holders_(holders),
        inside_(table.devices.size()),
        network_(table.hosts.size()),
        between_racks_(table.racks.size()) {
    for (std::int32_t host : table.hosts) speeds_.push_back(topology.NetworkOf(host));
  }

  Sources Run() && {
    for (std::size_t i = 0; i < demands_.size(); ++i) {
      const Demand& demand = demands_[i];
      const int host = table_.host[At(demand.device)];
      const ClassHolders holders = holders_.Of(demand.held_class);
      if (holders.devices.empty()) {
        TakeFromStorage(demand);
        continue;
      }
      const bool is_near = holders.OnHost(host).has_value();
      (is_near ? near_ : far_).push_back(static_cast<int>(i));
    }
    ChooseInside();
    ChooseSenders(ChooseHosts());
    return Collect();
  }

 private:
  const Demand& DemandAt(int i) const { return demands_[At(i)]; }
  static Unit UnitOf(const Demand& demand, std::int64_t bytes) {
    return {bytes, demand.element_bytes};
  }

  void TakeFromStorage(const Demand& demand) {
    const int host = table_.host[At(demand.device)];
    storage_.push_back({demand.device, demand.held_class, demand.element_bytes, demand.bytes});
    network_.in[At(host)] += demand.bytes;
    between_racks_.in[At(table_.rack[At(host)])] += demand.bytes;
  }

  /// Divides the loads of one host among its devices.
  /// \pre the ports of the loads are devices
  static std::vector<std::vector<Share>> DivideAmongDevices(std::vector<Load>& loads,
                                                            std::int64_t floor,
                                                            std::vector<std::int64_t>& sent) {
    std::vector<int> devices;
    for (const Load& load : loads) {
      devices.insert(devices.end(), load.ports.begin(), load.ports.end());
    }
    std::sort(devices.begin(), devices.end());
    devices.erase(std::unique(devices.begin(), devices.end()), devices.end());
    std::vector<std::int64_t> done;
    for (int device : devices) done.push_back(sent[At(device)]);
    for (Load& load : loads) {
      for (int& port : load.ports) {
        const auto at = std::lower_bound(devices.begin(), devices.end(), port);
        port = static_cast<int>(at - devices.begin());
      }
    }
    auto pieces = Divide(loads, std::vector<std::int64_t>(devices.size(), 1), {floor, 1}, done);
    for (auto& of_load : pieces) {
      for (Share& piece : of_load) piece.port = devices[At(piece.port)];
    }
    for (std::size_t d = 0; d < devices.size(); ++d) sent[At(devices[d])] = done[d];
    return pieces;
  }

  /// Serves demands from devices of the same host.
  void ChooseInside() {
    const auto host_of = [&](int i) { return table_.host[At(DemandAt(i).device)]; };
    std::stable_sort(near_.begin(), near_.end(), [&](int a, int b) {
      return std::pair(host_of(a), DemandAt(a).held_class) <
             std::pair(host_of(b), DemandAt(b).held_class);
    });
    std::vector<std::int64_t> sent(table_.devices.size());
    for (std::size_t begin = 0; begin < near_.size();) {
      const int host = host_of(near_[begin]);
      std::vector<Load> loads;
      std::vector<std::vector<int>> of_load;  // demands
      std::int64_t most_received = 0;
      std::size_t end = begin;
      for (; end < near_.size() && host_of(near_[end]) == host; ++end) {
        const Demand& demand = DemandAt(near_[end]);
        const bool is_new =
            end == begin || DemandAt(near_[end - 1]).held_class != demand.held_class;
        if (is_new) {
          const std::span<const int> ports = *holders_.Of(demand.held_class).OnHost(host);
          loads.push_back({{ports.begin(), ports.end()}, {}});
          of_load.emplace_back();
        }
        loads.back().units.push_back(UnitOf(demand, demand.bytes));
        of_load.back().push_back(near_[end]);
        std::int64_t& received = inside_.in[At(demand.device)];
        received += demand.bytes;
        most_received = std::max(most_received, received);
      }
      const auto pieces = DivideAmongDevices(loads, most_received, sent);
      for (std::size_t l = 0; l < loads.size(); ++l) {
        for (const Share& piece : pieces[l]) {
          parts_.push_back({of_load[l][At(piece.unit)], piece.port, piece.bytes});
        }
      }
      begin = end;
    }
    inside_.out = sent;
  }

  /// Chooses hosts for the other demands. The shares of hosts ascend by class, and those of each
  /// demand are consecutive.
  std::vector<Part> ChooseHosts() {
    const auto class_of = [&](int i) { return DemandAt(i).held_class; };
    // If racks limit, demands of different racks are different loads.
    const auto rack_of = [&](int i) {
      const int rack = table_.rack[At(table_.host[At(DemandAt(i).device)])];
      return topology_.rack_bytes_per_second ? rack : 0;
    };
    if (topology_.rack_bytes_per_second) SortByNumber(far_, table_.racks.size(), rack_of);
    SortByNumber(far_, holders_.num_classes(), class_of);
    std::vector<RackLoad> loads;
    std::vector<std::size_t> of_load;  // the first demand of each load
    for (std::size_t k = 0; k < far_.size(); ++k) {
      const int i = far_[k];
      const bool is_new =
          k == 0 || class_of(far_[k - 1]) != class_of(i) || rack_of(far_[k - 1]) != rack_of(i);
      if (is_new) {
        const std::span<const int> hosts = holders_.Of(class_of(i)).hosts;
        loads.push_back({rack_of(i), {{hosts.begin(), hosts.end()}, {}}});
        of_load.push_back(k);
      }
      loads.back().load.units.push_back(UnitOf(DemandAt(i), DemandAt(i).bytes));
      network_.in[At(table_.host[At(DemandAt(i).device)])] += DemandAt(i).bytes;
    }
    const auto pieces = DivideAmongHosts(std::move(loads));
    std::vector<Part> by_host;
    for (std::size_t l = 0; l < pieces.size(); ++l) {
      for (const Share& piece : pieces[l]) {
        by_host.push_back({far_[of_load[l] + At(piece.unit)], piece.port, piece.bytes});
      }
    }
    return by_host;
  }

  std::vector<std::vector<Share>> DivideAmongHosts(std::vector<RackLoad> rack_loads) {
    std::vector<double> all_speeds = speeds_;
    all_speeds.push_back(topology_.rack_bytes_per_second.value_or(speeds_.front()));
    std::vector<std::int64_t> speeds = WholeSpeeds(all_speeds);
    const std::int64_t rack_speed = speeds.back();
    speeds.pop_back();
    PortTime floor;
    for (std::size_t host = 0; host < speeds.size(); ++host) {
      const PortTime in{network_.in[host], speeds[host]};
      if (floor < in) floor = in;
    }
    if (topology_.rack_bytes_per_second) {
      const RackPorts ports{table_.rack, speeds, rack_speed, static_cast<int>(table_.racks.size())};
      auto division = DivideInRacks(rack_loads, ports, floor, between_racks_.in, network_.out);
      KeepPrices(division.prices);
      return std::move(division.pieces);
    }
    std::vector<Load> loads;
    loads.reserve(rack_loads.size());
    for (RackLoad& load : rack_loads) loads.push_back(std::move(load.load));
    rack_loads = {};
    return Divide(loads, speeds, floor, network_.out);
  }

  /// Stores the prices by name, without those that are 0.
  /// \pre `prices` lists hosts, ports out of racks and ports into racks, or is empty
  void KeepPrices(const std::vector<std::int64_t>& prices) {
    if (prices.empty()) return;
    auto price = prices.begin();
    const auto keep = [&](const std::vector<std::int32_t>& names, auto& kept) {
      for (std::int32_t name : names) {
        if (*price > 0) kept.emplace(name, *price);
        ++price;
      }
    };
    keep(table_.hosts, prices_.out_of_host);
    keep(table_.racks, prices_.out_of_rack);
    keep(table_.racks, prices_.into_rack);
  }

  /// Chooses devices of the sending hosts, whose loads inside their hosts count as well.
  /// \param parts the shares of hosts
  void ChooseSenders(std::vector<Part> parts) {
    const std::vector<std::size_t> first =
        SortByNumber(parts, table_.hosts.size(), [](const Part& part) { return part.source; });
    std::vector<std::int64_t> sent = inside_.out;
    for (std::size_t host = 0; host < table_.hosts.size(); ++host) {
      std::vector<Load> loads;
      std::vector<std::size_t> of_load;  // the first part of each load
      for (std::size_t p = first[host]; p < first[host + 1]; ++p) {
        const Demand& demand = DemandAt(parts[p].demand);
        if (p == first[host] || DemandAt(parts[p - 1].demand).held_class != demand.held_class) {
          const std::span<const int> ports =
              *holders_.Of(demand.held_class).OnHost(static_cast<int>(host));
          loads.push_back({{ports.begin(), ports.end()}, {}});
          of_load.push_back(p);
        }
        loads.back().units.push_back(UnitOf(demand, parts[p].bytes));
      }
      const auto pieces = DivideAmongDevices(loads, 0, sent);
      for (std::size_t l = 0; l < loads.size(); ++l) {
        for (const Share& piece : pieces[l]) {
          parts_.push_back({parts[of_load[l] + At(piece.unit)].demand, piece.port, piece.bytes});
        }
      }
    }
  }

  Sources Collect() {
    SortByNumber(parts_, demands_.size(), [](const Part& part) { return part.demand; });
    Sources sources;
    sources.storage = std::move(storage_);
    sources.port_prices = std::move(prices_);
    for (const Part& part : parts_) {
      const Demand& demand = DemandAt(part.demand);
      const int to = table_.host[At(demand.device)];
      const int from = table_.host[At(part.source)];
      (from == to ? sources.host_bytes : sources.network_bytes) += part.bytes;
      const int to_rack = table_.rack[At(to)];
      const int from_rack = table_.rack[At(from)];
      if (from_rack != to_rack) between_racks_.Add(from_rack, to_rack, part.bytes);
      sources.flows.push_back(
          {demand.device, demand.held_class, demand.element_bytes, part.source, part.bytes});
    }
    sources.host_bytes += forwards_.total;
    sources.seconds_to_arrive = Busiest().seconds;
    for (std::size_t d = 0; d < table_.devices.size(); ++d) {
      inside_.out[d] += forwards_.out[d];
      inside_.in[d] += forwards_.in[d];
    }
    sources.busiest_port = Busiest();
    return sources;
  }

  BusiestPort Busiest() const {
    BusiestPort busiest;
    const auto look = [&](const PortBytes& ports, const auto& speed_of, const auto& name_of) {
      for (std::size_t p = 0; p < ports.out.size(); ++p) {
        for (const bool is_out : {true, false}) {
          const std::int64_t bytes = is_out ? ports.out[p] : ports.in[p];
          const double seconds = static_cast<double>(bytes) / speed_of(p);
          if (seconds <= busiest.seconds) continue;
          busiest = {bytes, seconds, fmt::format("{} {}", name_of(p), is_out ? "out" : "in")};
        }
      }
    };
    look(
        network_, [&](std::size_t p) { return speeds_[p]; },
        [&](std::size_t p) { return fmt::format("n{}", table_.hosts[p]); });
    look(
        inside_, [&](std::size_t) { return topology_.host_bytes_per_second; },
        [&](std::size_t p) { return ToString(table_.devices[p]); });
    if (topology_.rack_bytes_per_second) {
      look(
          between_racks_, [&](std::size_t) { return *topology_.rack_bytes_per_second; },
          [&](std::size_t p) { return fmt::format("rack {}", table_.racks[p]); });
    }
    return busiest;
  }

  const std::vector<Demand>& demands_;
  const DeviceTable& table_;
  const Topology& topology_;
  const ForwardLoads& forwards_;
  const Holders& holders_;
  std::vector<double> speeds_;   // of hosts
  std::vector<int> near_, far_;  // demands
  std::vector<Part> parts_;      // from devices
  std::vector<StorageNeed> storage_;
  PortBytes inside_;         // of devices, inside hosts
  PortBytes network_;        // of hosts
  PortBytes between_racks_;  // of racks
  PortPrices prices_;
};

}  // namespace

Sources ChooseSources(const std::vector<Demand>& demands, const Holders& holders,
                      const DeviceTable& table, const Topology& topology,
                      const ForwardLoads& forwards) {
  return Chooser(demands, holders, table, topology, forwards).Run();
}

}  // namespace tessera::ptc
