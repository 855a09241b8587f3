// SPDX-License-Identifier: Apache-2.0
#include "ptc/plan/balance.h"

#include <algorithm>
#include <numeric>
#include <queue>

#include "ptc/base/at.h"
#include "ptc/base/check.h"

namespace tessera::ptc {
namespace {

__extension__ using Wide = __int128;

/// Divides the loads that have a choice of ports.
class Divider {
 public:
  Divider(const std::vector<Load>& loads, const std::vector<std::int64_t>& speeds, PortTime floor,
          std::vector<std::int64_t>& done)
      : loads_(loads), speeds_(speeds), done_(done), time_(floor) {}

  std::vector<std::vector<std::int64_t>> Run() && {
    shares_.resize(loads_.size());
    for (std::size_t l = 0; l < loads_.size(); ++l) {
      std::int64_t bytes = 0;
      for (const Unit& unit : loads_[l].units) bytes += unit.bytes;
      bytes_.push_back(bytes);
      shares_[l].resize(loads_[l].ports.size());
      if (loads_[l].ports.size() > 1) {
        if (bytes > 0) order_.push_back(l);
        continue;
      }
      shares_[l][0] = bytes;
      done_[At(loads_[l].ports[0])] += bytes;
    }
    if (!order_.empty()) {
      RaiseToLowerBound();
      Start();
      Improve();
    }
    return std::move(shares_);
  }

 private:
  std::int64_t Capacity(std::size_t port) const { return BytesThrough(time_, speeds_[port]); }

  /// A port takes at least the time of the loads that only it can serve, and the last port at least
  /// the mean of all.
  void RaiseToLowerBound() {
    std::vector<bool> used(speeds_.size());
    PortTime mean{0, 0};
    for (std::size_t l : order_) {
      mean.bytes += bytes_[l];
      for (int port : loads_[l].ports) used[At(port)] = true;
    }
    for (std::size_t port = 0; port < speeds_.size(); ++port) {
      if (!used[port]) continue;
      const PortTime alone{done_[port], speeds_[port]};
      if (time_ < alone) time_ = alone;
      mean.bytes += done_[port];
      mean.speed += speeds_[port];
    }
    if (time_ < mean) time_ = mean;
  }

  /// Gives each unit to the port that finishes first. Bytes that do not fit into the time go to the
  /// next port.
  void Start() {
    std::stable_sort(order_.begin(), order_.end(), [&](std::size_t a, std::size_t b) {
      if (loads_[a].ports.size() != loads_[b].ports.size()) {
        return loads_[a].ports.size() < loads_[b].ports.size();
      }
      return bytes_[a] > bytes_[b];
    });
    for (std::size_t l : order_) {
      const std::vector<int>& ports = loads_[l].ports;
      const auto later = [&](int a, int b) {
        const std::size_t p = At(ports[At(a)]);
        const std::size_t q = At(ports[At(b)]);
        const Wide left = Wide{done_[p]} * speeds_[q];
        const Wide right = Wide{done_[q]} * speeds_[p];
        return left != right ? left > right : a > b;
      };
      std::vector<int> heap(ports.size());  // indices into `ports`; the first finishes first
      std::iota(heap.begin(), heap.end(), 0);
      std::make_heap(heap.begin(), heap.end(), later);
      for (const Unit& unit : loads_[l].units) {
        std::int64_t rest = unit.bytes;
        while (rest > 0) {
          std::pop_heap(heap.begin(), heap.end(), later);
          const int first = heap.back();
          const std::size_t port = At(ports[At(first)]);
          const std::int64_t room = Capacity(port) - done_[port];
          const std::int64_t taken = room > 0 ? std::min(rest, room) : rest;
          done_[port] += taken;
          shares_[l][At(first)] += taken;
          rest -= taken;
          std::push_heap(heap.begin(), heap.end(), later);
        }
      }
    }
  }

  struct Edge {
    std::size_t load;
    std::size_t slot;  // index of the port in the load's list
  };

  void Improve() {
    edges_.resize(speeds_.size());
    for (std::size_t l : order_) {
      for (std::size_t s = 0; s < loads_[l].ports.size(); ++s) {
        edges_[At(loads_[l].ports[s])].push_back({l, s});
      }
    }
    while (HasExcess()) {
      if (!FindLevels()) {
        RaiseToCut();
        continue;
      }
      next_edge_.assign(speeds_.size(), 0);
      next_slot_.assign(loads_.size(), 0);
      for (std::size_t port = 0; port < speeds_.size(); ++port) {
        while (done_[port] > Capacity(port) && level_[port] == 0) {
          if (Push(port, done_[port] - Capacity(port)) == 0) break;
        }
      }
    }
  }

  bool HasExcess() const {
    for (std::size_t port = 0; port < speeds_.size(); ++port) {
      if (!edges_[port].empty() && done_[port] > Capacity(port)) return true;
    }
    return false;
  }

  /// Computes distances from overloaded ports, over loads that may move, to ports with room.
  /// Returns false if no port with room is reached; `level_` then marks the ports that are.
  bool FindLevels() {
    level_.assign(speeds_.size(), -1);
    load_level_.assign(loads_.size(), -1);
    std::vector<std::size_t> queue;
    for (std::size_t port = 0; port < speeds_.size(); ++port) {
      if (edges_[port].empty() || done_[port] <= Capacity(port)) continue;
      level_[port] = 0;
      queue.push_back(port);
    }
    bool found = false;
    for (std::size_t head = 0; head < queue.size(); ++head) {
      const std::size_t port = queue[head];
      if (done_[port] < Capacity(port)) {
        found = true;
        continue;
      }
      for (const Edge& edge : edges_[port]) {
        if (load_level_[edge.load] >= 0 || shares_[edge.load][edge.slot] == 0) continue;
        load_level_[edge.load] = level_[port];
        for (int other : loads_[edge.load].ports) {
          if (level_[At(other)] >= 0) continue;
          level_[At(other)] = level_[port] + 1;
          queue.push_back(At(other));
        }
      }
    }
    return found;
  }

  /// Moves up to `limit` bytes from `port` towards a port with room, and returns the bytes moved.
  std::int64_t Push(std::size_t port, std::int64_t limit) {
    if (level_[port] > 0) {
      const std::int64_t room = Capacity(port) - done_[port];
      if (room > 0) {
        const std::int64_t taken = std::min(room, limit);
        done_[port] += taken;
        return taken;
      }
    }
    for (std::size_t& e = next_edge_[port]; e < edges_[port].size(); ++e) {
      const Edge edge = edges_[port][e];
      std::int64_t& share = shares_[edge.load][edge.slot];
      if (share == 0 || load_level_[edge.load] != level_[port]) continue;
      const std::vector<int>& ports = loads_[edge.load].ports;
      for (std::size_t& s = next_slot_[edge.load]; s < ports.size(); ++s) {
        const std::size_t other = At(ports[s]);
        if (level_[other] != level_[port] + 1) continue;
        const std::int64_t moved = Push(other, std::min(limit, share));
        if (moved == 0) continue;
        share -= moved;
        shares_[edge.load][s] += moved;
        if (level_[port] == 0) done_[port] -= moved;
        return moved;
      }
    }
    return 0;
  }

  /// Raises the time to that of the ports that were reached, because no other port can take their
  /// loads.
  void RaiseToCut() {
    PortTime cut{0, 0};
    for (std::size_t port = 0; port < speeds_.size(); ++port) {
      if (level_[port] < 0) continue;
      cut.bytes += done_[port];
      cut.speed += speeds_[port];
    }
    TESSERA_CHECK(time_ < cut);
    time_ = cut;
  }

  const std::vector<Load>& loads_;
  const std::vector<std::int64_t>& speeds_;
  std::vector<std::int64_t>& done_;
  PortTime time_;
  std::vector<std::int64_t> bytes_;                // by load
  std::vector<std::size_t> order_;                 // loads with a choice
  std::vector<std::vector<std::int64_t>> shares_;  // by load and index of the port
  std::vector<std::vector<Edge>> edges_;           // by port
  std::vector<int> level_, load_level_;
  std::vector<std::size_t> next_edge_, next_slot_;
};

}  // namespace

bool operator<(const PortTime& a, const PortTime& b) {
  return Wide{a.bytes} * b.speed < Wide{b.bytes} * a.speed;
}

std::int64_t BytesThrough(PortTime time, std::int64_t speed) {
  constexpr Wide kMost = Wide{1} << 62U;
  const Wide through = (Wide{time.bytes} * speed + time.speed - 1) / time.speed;
  return static_cast<std::int64_t>(std::min(through, kMost));
}

std::vector<Share> CutUnits(const Load& load, std::vector<std::int64_t> shares,
                            std::vector<std::int64_t>& done) {
  std::vector<Share> pieces;
  std::size_t slot = 0;
  for (std::size_t u = 0; u < load.units.size(); ++u) {
    std::int64_t rest = load.units[u].bytes;
    while (rest > 0) {
      const bool is_last = slot + 1 == load.ports.size();
      const std::int64_t grain = load.units[u].grain;
      std::int64_t taken = rest;
      if (!is_last && shares[slot] < rest) taken = shares[slot] / grain * grain;
      if (taken > 0) {
        pieces.push_back({static_cast<int>(u), load.ports[slot], taken});
        rest -= taken;
        shares[slot] -= taken;
      }
      if (is_last || (rest == 0 && shares[slot] > 0)) continue;
      // The rest is less than a grain, so the next port takes it.
      const std::int64_t left = shares[slot];
      done[At(load.ports[slot])] -= left;
      done[At(load.ports[slot + 1])] += left;
      shares[slot + 1] += left;
      ++slot;
    }
  }
  return pieces;
}

std::vector<std::vector<Share>> Divide(const std::vector<Load>& loads,
                                       const std::vector<std::int64_t>& speeds, PortTime floor,
                                       std::vector<std::int64_t>& done) {
  std::vector<std::vector<std::int64_t>> shares = Divider(loads, speeds, floor, done).Run();
  std::vector<std::vector<Share>> pieces;
  pieces.reserve(loads.size());
  for (std::size_t l = 0; l < loads.size(); ++l) {
    pieces.push_back(CutUnits(loads[l], std::move(shares[l]), done));
  }
  return pieces;
}

}  // namespace tessera::ptc
