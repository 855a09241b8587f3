// SPDX-License-Identifier: Apache-2.0
#include "ptc/plan/rack_balance.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "ptc/base/at.h"
#include "ptc/plan/rack_program.h"

namespace tessera::ptc {
namespace {

/// Divides loads among their ways. Ports are numbered: those of hosts, those out of racks, those
/// into racks.
class RackDivider {
 public:
  RackDivider(const std::vector<RackLoad>& loads, const RackPorts& ports, PortTime time,
              const std::vector<std::int64_t>& entering, const std::vector<std::int64_t>& sent)
      : loads_(loads), time_(time), done_(sent) {
    const std::size_t hosts = ports.host_speeds.size();
    const std::size_t racks = At(ports.num_racks);
    speeds_ = ports.host_speeds;
    speeds_.resize(hosts + 2 * racks, ports.rack_speed);
    done_.resize(hosts + racks);
    done_.insert(done_.end(), entering.begin(), entering.end());
    users_.resize(speeds_.size());
    for (std::size_t l = 0; l < loads.size(); ++l) {
      std::vector<RackWay>& ways = ways_.emplace_back();
      for (int host : loads[l].load.ports) {
        RackWay& way = ways.emplace_back(At(host));
        const int rack = ports.rack_of_host[At(host)];
        if (rack != loads[l].rack) {
          way.Add(hosts + At(rack));
          way.Add(hosts + racks + At(loads[l].rack));
        }
        for (std::size_t port : way) users_[port].push_back({l, ways.size() - 1});
      }
      shares_.emplace_back(ways.size());
    }
  }

  /// There are no prices if paths reach the target, or if the linear program is too large.
  RackSolution Run() && {
    const std::vector<std::int64_t> fixed = done_;
    Start();
    bool is_tried = false;
    while (const auto port = FullestPort()) {
      if (Relieve(*port)) continue;
      if (!std::exchange(is_tried, true)) {
        auto solution = Solve({ways_, speeds_, fixed, time_}, shares_);
        if (solution) return std::move(*solution);
      }
      Raise();
    }
    return {std::move(shares_), {}};
  }

 private:
  std::int64_t Room(std::size_t port) const {
    return BytesThrough(time_, speeds_[port]) - done_[port];
  }
  std::int64_t Room(const RackWay& way) const {
    std::int64_t room = Room(*way.begin());
    for (std::size_t port : way) room = std::min(room, Room(port));
    return room;
  }
  void Give(std::size_t load, std::size_t slot, std::int64_t bytes) {
    shares_[load][slot] += bytes;
    for (std::size_t port : ways_[load][slot]) done_[port] += bytes;
  }

  /// Gives each load to the ways with the most room, those within the rack first; if no way has
  /// room, to the one that lacks the least. The least flexible and largest loads come first.
  void Start() {
    std::vector<std::size_t> order(loads_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::vector<std::int64_t> bytes;
    for (const RackLoad& load : loads_) {
      std::int64_t& sum = bytes.emplace_back();
      for (const Unit& unit : load.load.units) sum += unit.bytes;
    }
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      if (ways_[a].size() != ways_[b].size()) return ways_[a].size() < ways_[b].size();
      return bytes[a] > bytes[b];
    });
    constexpr std::int64_t kPortions = 8;
    for (std::size_t l : order) {
      const std::int64_t portion = (bytes[l] + kPortions - 1) / kPortions;
      for (std::int64_t rest = bytes[l]; rest > 0;) {
        const std::size_t slot = Roomiest(l);
        const std::int64_t room = Room(ways_[l][slot]);
        const std::int64_t taken = room > 0 ? std::min({rest, room, portion}) : rest;
        Give(l, slot, taken);
        rest -= taken;
      }
    }
  }
  std::size_t Roomiest(std::size_t load) const {
    std::optional<std::size_t> inside;
    std::size_t best = 0;
    for (std::size_t s = 0; s < ways_[load].size(); ++s) {
      const std::int64_t room = Room(ways_[load][s]);
      if (room > Room(ways_[load][best])) best = s;
      if (ways_[load][s].crosses() || room <= 0) continue;
      if (!inside || room > Room(ways_[load][*inside])) inside = s;
    }
    return inside.value_or(best);
  }

  /// The most overloaded port, or nullopt if none is overloaded.
  std::optional<std::size_t> FullestPort() const {
    std::optional<std::size_t> fullest;
    for (std::size_t port = 0; port < speeds_.size(); ++port) {
      if (Room(port) < 0 && (!fullest || Room(port) < Room(*fullest))) fullest = port;
    }
    return fullest;
  }

  /// A move of bytes of `load` to another way.
  struct Step {
    std::size_t load, from, to;
    std::size_t before;  // the port that it relieves
  };

  /// Searches breadth first from an overloaded port, over full ports, for ports with room, and
  /// moves bytes along the path. Returns false if there is no such path.
  bool Relieve(std::size_t start) {
    std::vector<std::optional<Step>> step_to(speeds_.size());
    std::vector<bool> reached(speeds_.size());
    std::vector<std::size_t> queue{start};
    reached[start] = true;
    for (std::size_t head = 0; head < queue.size(); ++head) {
      const std::size_t port = queue[head];
      for (const User& user : users_[port]) {
        if (shares_[user.load][user.slot] == 0) continue;
        const RackWay& old_way = ways_[user.load][user.slot];
        for (std::size_t s = 0; s < ways_[user.load].size(); ++s) {
          const RackWay& way = ways_[user.load][s];
          if (way.Has(port)) continue;
          const Step step{user.load, user.slot, s, port};
          std::optional<std::size_t> full;
          std::size_t num_full = 0;
          for (std::size_t p : way) {
            if (old_way.Has(p) || Room(p) > 0) continue;
            full = p;
            ++num_full;
          }
          if (num_full == 0 && Pass(start, step, step_to)) return true;
          if (num_full != 1 || reached[*full]) continue;
          reached[*full] = true;
          step_to[*full] = step;
          queue.push_back(*full);
        }
      }
    }
    return false;
  }

  /// Moves bytes along the path that ends with `last`, as many as all its ports have room for.
  /// Returns whether it moved any.
  bool Pass(std::size_t start, const Step& last, const std::vector<std::optional<Step>>& step_to) {
    std::vector<Step> path{last};
    while (path.back().before != start) path.push_back(*step_to[path.back().before]);
    std::int64_t amount = -Room(start);
    std::vector<std::pair<std::size_t, std::int64_t>> gains;  // port, number of uses
    const auto gain = [&](std::size_t port, std::int64_t times) {
      const auto at = std::find_if(gains.begin(), gains.end(),
                                   [port](const auto& known) { return known.first == port; });
      at == gains.end() ? gains.emplace_back(port, times).second : at->second += times;
    };
    for (std::size_t i = 0; i < path.size(); ++i) {
      const Step& step = path[i];
      // A path may use a share twice. Then each use takes half of it.
      std::int64_t uses = 0;
      for (const Step& other : path) uses += other.load == step.load && other.from == step.from;
      amount = std::min(amount, shares_[step.load][step.from] / uses);
      for (std::size_t port : ways_[step.load][step.to]) gain(port, 1);
      for (std::size_t port : ways_[step.load][step.from]) gain(port, -1);
    }
    for (const auto& [port, times] : gains) {
      if (times > 0) amount = std::min(amount, std::max<std::int64_t>(Room(port), 0) / times);
    }
    if (amount <= 0) return false;
    for (const Step& step : path) {
      Give(step.load, step.from, -amount);
      Give(step.load, step.to, amount);
    }
    return true;
  }

  void Raise() {
    constexpr std::int64_t kPart = 1000;
    time_.bytes += std::max<std::int64_t>(time_.bytes / kPart, 1);
  }

  struct User {
    std::size_t load, slot;
  };
  const std::vector<RackLoad>& loads_;
  PortTime time_;
  std::vector<std::int64_t> done_, speeds_;  // by port
  std::vector<std::vector<RackWay>> ways_;   // by load and slot
  std::vector<std::vector<User>> users_;     // by port
  WayShares shares_;                         // by load and slot
};

/// The least time that ports of one kind need for `loads`, or `floor` if that is longer.
PortTime LeastTime(const std::vector<Load>& loads, const std::vector<std::int64_t>& speeds,
                   PortTime floor, std::vector<std::int64_t> done) {
  Divide(loads, speeds, floor, done);
  for (std::size_t port = 0; port < done.size(); ++port) {
    const PortTime time{done[port], speeds[port]};
    if (floor < time) floor = time;
  }
  return floor;
}

/// The loads that must cross between racks, as loads of racks.
std::vector<Load> CrossingLoads(const std::vector<RackLoad>& loads, const RackPorts& ports) {
  std::vector<Load> crossing;
  for (const RackLoad& load : loads) {
    std::vector<int> racks;
    for (int host : load.load.ports) racks.push_back(ports.rack_of_host[At(host)]);
    std::sort(racks.begin(), racks.end());
    racks.erase(std::unique(racks.begin(), racks.end()), racks.end());
    if (std::binary_search(racks.begin(), racks.end(), load.rack)) continue;
    crossing.push_back({std::move(racks), load.load.units});
  }
  return crossing;
}

}  // namespace

RackDivision DivideInRacks(const std::vector<RackLoad>& loads, const RackPorts& ports,
                           PortTime floor, const std::vector<std::int64_t>& entering,
                           std::vector<std::int64_t>& sent) {
  std::vector<Load> all;
  std::vector<std::int64_t> must_enter = entering;
  for (const RackLoad& load : loads) all.push_back(load.load);
  for (const RackLoad& load : loads) {
    const bool is_inside =
        std::any_of(load.load.ports.begin(), load.load.ports.end(),
                    [&](int host) { return ports.rack_of_host[At(host)] == load.rack; });
    if (is_inside) continue;
    for (const Unit& unit : load.load.units) must_enter[At(load.rack)] += unit.bytes;
  }
  for (std::int64_t bytes : must_enter) {
    const PortTime in{bytes, ports.rack_speed};
    if (floor < in) floor = in;
  }
  const std::vector<std::int64_t> rack_speeds(At(ports.num_racks), ports.rack_speed);
  floor = LeastTime(all, ports.host_speeds, floor, sent);
  floor = LeastTime(CrossingLoads(loads, ports), rack_speeds, floor,
                    std::vector<std::int64_t>(rack_speeds.size()));
  auto [shares, prices] = RackDivider(loads, ports, floor, entering, sent).Run();
  RackDivision division;
  division.prices = std::move(prices);
  division.pieces.reserve(loads.size());
  for (std::size_t l = 0; l < loads.size(); ++l) {
    for (std::size_t s = 0; s < shares[l].size(); ++s) {
      sent[At(loads[l].load.ports[s])] += shares[l][s];
    }
    division.pieces.push_back(CutUnits(loads[l].load, std::move(shares[l]), sent));
  }
  return division;
}

}  // namespace tessera::ptc
