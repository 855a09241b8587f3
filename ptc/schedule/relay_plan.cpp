// SPDX-License-Identifier: Apache-2.0
#include "ptc/schedule/relay_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>
#include <variant>

#include "ptc/base/overloaded.h"
#include "ptc/cells.h"
#include "ptc/schedule/hops.h"
#include "ptc/schedule/word_hash.h"

namespace tessera::ptc {
namespace {

/// Bytes through the ports of racks, of devices inside hosts, and of hosts.
class PortSums {
 public:
  PortSums(const Sites& sites, const Topology& topology)
      : sites_(sites), topology_(topology), loads_(sites.num_ports()) {}

  void Add(const Hop& hop) {
    loads_.Add(sites_, hop.source, hop.device, hop.bytes());
    const std::int32_t out = RackOf(hop.source);
    const std::int32_t in = RackOf(hop.device);
    if (!topology_.rack_bytes_per_second || out == in) return;
    racks_[out].first += hop.bytes();
    racks_[in].second += hop.bytes();
  }

  /// Compares in the order of the outline, because the first of equal ports counts.
  BusiestPort Busiest() const {
    BusiestPort busiest;
    const auto look = [&busiest](std::int64_t out, std::int64_t in, const auto& seconds_of,
                                 const auto& name_of) {
      for (const bool is_out : {true, false}) {
        const std::int64_t bytes = is_out ? out : in;
        const double seconds = seconds_of(bytes);
        if (seconds <= busiest.seconds) continue;
        busiest = {bytes, seconds, fmt::format("{} {}", name_of(), is_out ? "out" : "in")};
      }
    };
    const auto look_at = [&](std::size_t port) {
      look(
          loads_.out[port], loads_.in[port],
          [&](std::int64_t bytes) { return sites_.Seconds(port, bytes); },
          [&] { return sites_.PortName(port); });
    };
    for (std::size_t p = sites_.num_devices(); p < sites_.num_ports(); ++p) look_at(p);
    for (std::size_t p = 0; p < sites_.num_devices(); ++p) look_at(p);
    for (const auto& [rack, bytes] : racks_) {
      look(
          bytes.first, bytes.second,
          [&](std::int64_t b) { return static_cast<double>(b) / *topology_.rack_bytes_per_second; },
          [rack = rack] { return fmt::format("rack {}", rack); });
    }
    return busiest;
  }

 private:
  std::int32_t RackOf(std::size_t device) const {
    return topology_.RackOf(topology_.HostOf(sites_.Device(device)));
  }

  const Sites& sites_;
  const Topology& topology_;
  Loads loads_;
  std::map<std::int32_t, std::pair<std::int64_t, std::int64_t>> racks_;  // out, in
};

/// The sort key of a move. It refers to the move.
std::tuple<int, const Box&, DeviceId, std::size_t> OrderOf(const Move& move) {
  using Order = std::tuple<int, const Box&, DeviceId, std::size_t>;
  return std::visit(
      Overloaded{
          [&](const Keep& m) { return Order(m.tensor, m.piece, m.device, move.index()); },
          [&](const LocalCopy& m) { return Order(m.tensor, m.cell, m.device, move.index()); },
          [&](const RemoteCopy& m) { return Order(m.tensor, m.cell, m.device, move.index()); },
          [&](const Drop& m) { return Order(m.tensor, m.piece, m.device, move.index()); }},
      move);
}

std::uint64_t HashOf(std::uint64_t direct, const std::vector<Move>& moves) {
  WordHash hash;
  hash.Word(direct);
  for (const Move& move : moves) {
    const auto* copy = std::get_if<RemoteCopy>(&move);
    if (copy == nullptr) continue;
    hash.Add(copy->source);
    hash.Add(copy->device);
    hash.Word(std::int64_t{copy->tensor});
    hash.Add(copy->cell);
    hash.Word(std::int64_t{copy->forwarded});
  }
  return hash.Value();
}

}  // namespace

Plan RelayPlan(const Plan& plan, const Layout& from, const Layout& to, const Topology& topology) {
  const Sites sites(DevicesOf(from, to), topology);
  const std::vector<Hop> hops = RelayedHops(DirectHops(plan, from.collection(), sites),
                                            to.collection(), sites, RelayWithin::kNode);
  Plan relayed = plan;
  relayed.bytes.host = relayed.bytes.network = 0;
  std::erase_if(relayed.moves,
                [](const Move& move) { return std::holds_alternative<RemoteCopy>(move); });
  PortSums all(sites, topology);
  PortSums first(sites, topology);
  PortSums then(sites, topology);
  bool is_relayed = false;
  for (const Hop& hop : hops) {
    const bool is_near = sites.HostOf(hop.source) == sites.HostOf(hop.device);
    (is_near ? relayed.bytes.host : relayed.bytes.network) += hop.bytes();
    all.Add(hop);
    (hop.after ? then : first).Add(hop);
    is_relayed = is_relayed || hop.after;
    relayed.moves.push_back(RemoteCopy{sites.Device(hop.source), sites.Device(hop.device),
                                       hop.tensor, hop.cell, hop.piece, hop.from,
                                       hop.after.has_value()});
  }
  const bool is_slower = first.Busiest().seconds + then.Busiest().seconds > plan.transfer_seconds;
  if (!is_relayed || is_slower) return plan;
  std::sort(relayed.moves.begin(), relayed.moves.end(),
            [](const Move& a, const Move& b) { return OrderOf(a) < OrderOf(b); });
  const BusiestPort busiest = all.Busiest();
  relayed.busiest_port_bytes = busiest.bytes;
  relayed.busiest_port = busiest.name;
  relayed.transfer_seconds = busiest.seconds;
  relayed.hash = HashOf(plan.hash, relayed.moves);
  return relayed;
}

}  // namespace tessera::ptc
