// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/link_matrix.h"

#include <QCoreApplication>
#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>

#include "ui/format.h"
#include "ui/sentences.h"

namespace tessera::ui {
namespace {

struct LinkWords {
  Q_DECLARE_TR_FUNCTIONS(tessera::ui::LinkWords)
};

constexpr double kWeakest = 0.25;
constexpr double kGamma = 1.5;      // so that the strong ones differ visibly, too
constexpr double kColourSpan = 16;  // between the weakest and the strongest colour

using Party = LinkMatrix::Party;
using Link = LinkMatrix::Link;

std::vector<Party> partiesOf(const std::set<ptc::DeviceId>& devices,
                             const engine::ClusterSnapshot& cluster, LinkEnds ends) {
  std::vector<Party> parties;
  for (const ptc::DeviceId device : devices) {
    const bool same =
        !parties.empty() && ends == LinkEnds::Nodes && parties.back().node == device.node;
    if (!same) {
      Party& party = parties.emplace_back();
      party.node = device.node;
      if (ends == LinkEnds::Gpus) party.index = device.index;
    }
    parties.back().devices.push_back(device);
  }
  std::map<std::int32_t, const engine::NodeStatus*> known;
  for (const engine::NodeStatus& node : cluster.nodes) known[node.node] = &node;
  for (Party& party : parties) {
    const auto at = known.find(party.node);
    if (at == known.end()) continue;
    const engine::NodeStatus& node = *at->second;
    party.dead = node.state == engine::NodeState::kDead;
    if (!party.index) continue;
    const auto device =
        std::ranges::find(node.devices, party.devices.front(), &engine::DeviceStatus::id);
    party.dead = party.dead || (device != node.devices.end() && device->failed);
  }
  return parties;
}

std::vector<std::int32_t> hostsOf(const std::vector<Party>& parties,
                                  const engine::ClusterSnapshot& cluster) {
  std::map<std::string, std::int32_t> numbers;
  std::map<std::int32_t, std::int32_t> hostOfNode;
  for (const engine::NodeStatus& node : cluster.nodes) {
    if (node.host.empty()) continue;
    hostOfNode[node.node] = numbers.emplace(node.host, node.node).first->second;
  }
  std::vector<std::int32_t> hosts;
  for (const Party& party : parties) {
    const auto host = hostOfNode.find(party.node);
    hosts.push_back(host == hostOfNode.end() ? party.node : host->second);
  }
  return hosts;
}

void addFlows(const std::vector<engine::FlowStatus>& flows, LinkMatrix* matrix) {
  std::map<std::pair<int, int>, Link> links;
  std::set<std::pair<int, int>> moving;
  for (const engine::FlowStatus& flow : flows) {
    if (flow.bytes_total <= 0) continue;
    const int from = matrix->partyOf(flow.source);
    const int to = matrix->partyOf(flow.destination);
    Link& link = links[{from, to}];
    link.from = from;
    link.to = to;
    link.bytes += flow.bytes_total;
    link.done += flow.bytes_done;
    link.rate += flow.bytes_per_second;
    ++link.flows;
    link.stalled = link.stalled || flow.state == engine::FlowState::kStalled;
    if (flow.state == engine::FlowState::kMoving) moving.insert({from, to});
  }
  for (auto& [ends, link] : links) {
    link.stalled = link.stalled && !moving.contains(ends);
    matrix->bytes += link.bytes;
    matrix->largest = std::max(matrix->largest, link.bytes);
    matrix->smallest = matrix->smallest == 0 ? link.bytes : std::min(matrix->smallest, link.bytes);
    Party& from = matrix->parties[static_cast<std::size_t>(link.from)];
    Party& to = matrix->parties[static_cast<std::size_t>(link.to)];
    if (link.from == link.to) {
      from.inside += link.bytes;
    } else {
      from.sends += link.bytes;
      to.receives += link.bytes;
    }
    matrix->links.push_back(link);
  }
  for (const Party& party : matrix->parties) {
    matrix->largestPort = std::max({matrix->largestPort, party.sends, party.receives});
  }
}

/// The port of a plan and its distance from the bound of all plans.
LinkMatrix::Port plannedPort(const engine::PlanCertificate& certificate, const LinkMatrix& matrix) {
  LinkMatrix::Port port;
  const QString text = QString::fromStdString(certificate.port);
  const qsizetype space = text.lastIndexOf(QLatin1Char(' '));
  const QString name = text.left(space);
  port.in = text.mid(space + 1) == QLatin1String("in");
  for (int i = 0; i < matrix.size(); ++i) {
    if (partyName(matrix.party(i)) == name) port.party = i;
  }
  const QString which = port.in ? LinkWords::tr("%1 in", "a port").arg(name)
                                : LinkWords::tr("%1 out", "a port").arg(name);
  const double gap = engine::GapAboveBound(certificate);
  // A plan below the bound of direct moves is compared with that of plans that relay.
  const bool relays = certificate.port_seconds < certificate.direct_seconds * (1 - 1e-9) &&
                      certificate.relayed_seconds > 0;
  const bool least = gap <= 0 && (relays || certificate.relayed_bound >= certificate.direct_bound);
  const QString bound =
      format::bytes(relays ? certificate.relayed_bound : certificate.direct_bound);
  if (least) {
    port.sentence = LinkWords::tr("%1: the busiest port; no plan can load it less (bound %2)")
                        .arg(which, bound);
  } else if (gap <= 0) {
    port.sentence = LinkWords::tr(
                        "%1: the busiest port; no plan without relays can load it less "
                        "(bound %2)")
                        .arg(which, bound);
  } else {
    port.sentence =
        LinkWords::tr("%1: the busiest port, %2 more than the bound of %3")
            .arg(which,
                 format::percent(gap) == format::percent(0) ? LinkWords::tr("less than 1 %")
                                                            : format::percent(gap),
                 bound);
  }
  return port;
}

std::optional<LinkMatrix::Port> portWithMost(const LinkMatrix& matrix) {
  if (matrix.largestPort == 0) return {};
  LinkMatrix::Port port;
  for (int i = 0; i < matrix.size() && !port.party; ++i) {
    const Party& party = matrix.party(i);
    if (std::max(party.sends, party.receives) < matrix.largestPort) continue;
    port.party = i;
    port.in = party.receives == matrix.largestPort;
  }
  const QString name = partyName(matrix.party(*port.party));
  port.sentence = LinkWords::tr("%1: the busiest port, %2")
                      .arg(port.in ? LinkWords::tr("%1 in", "a port").arg(name)
                                   : LinkWords::tr("%1 out", "a port").arg(name),
                           format::bytes(matrix.largestPort));
  return port;
}

}  // namespace

const LinkMatrix::Link* LinkMatrix::find(int from, int to) const {
  const auto at = std::ranges::lower_bound(links, std::pair(from, to), {}, [](const Link& link) {
    return std::pair(link.from, link.to);
  });
  return at != links.end() && at->from == from && at->to == to ? &*at : nullptr;
}

int LinkMatrix::partyOf(ptc::DeviceId device) const {
  const std::pair key(device.node, ends == LinkEnds::Nodes ? 0 : device.index);
  const auto at = std::ranges::lower_bound(parties, key, {}, [](const Party& party) {
    return std::pair(party.node, party.index.value_or(0));
  });
  const bool found =
      at != parties.end() && at->node == key.first && at->index.value_or(0) == key.second;
  return found ? static_cast<int>(at - parties.begin()) : -1;
}

std::optional<double> LinkMatrix::speedOf(const Link& link) const {
  const bool here =
      hosts[static_cast<std::size_t>(link.from)] == hosts[static_cast<std::size_t>(link.to)];
  return here ? memory : network;
}

std::optional<double> LinkMatrix::aloneSeconds(const Link& link) const {
  const auto speed = speedOf(link);
  if (!speed) return {};
  return static_cast<double>(link.bytes) / *speed;
}

LinkMatrix makeLinkMatrix(const LinkFlows& flows, const engine::ClusterSnapshot& cluster,
                          LinkEnds ends) {
  std::set<ptc::DeviceId> devices = flows.devices;
  for (const engine::FlowStatus& flow : flows.flows) {
    devices.insert(flow.source);
    devices.insert(flow.destination);
  }
  if (flows.devices.empty()) {
    for (const engine::NodeStatus& node : cluster.nodes) {
      for (const engine::DeviceStatus& device : node.devices) devices.insert(device.id);
    }
  }
  LinkMatrix matrix;
  matrix.time = flows.time;
  matrix.ends = devices.size() > LinkMatrix::kMostDevices ? LinkEnds::Nodes : ends;
  matrix.parties = partiesOf(devices, cluster, matrix.ends);
  matrix.hosts = hostsOf(matrix.parties, cluster);
  addFlows(flows.flows, &matrix);
  const engine::PlanCertificate& certificate = flows.certificate;
  if (certificate.network_bytes_per_second > 0) {
    matrix.network = certificate.network_bytes_per_second;
    matrix.speedsFrom = localized(certificate.bandwidths_from);
  } else if (cluster.link_bytes_per_second > 0) {
    matrix.network = cluster.link_bytes_per_second;
  }
  if (certificate.host_bytes_per_second > 0) matrix.memory = certificate.host_bytes_per_second;
  if (!matrix.links.empty()) {
    matrix.busiest =
        certificate.port.empty() ? portWithMost(matrix) : plannedPort(certificate, matrix);
  }
  return matrix;
}

std::vector<engine::FlowStatus> flowsOf(const LinkFlows& flows, const LinkMatrix& matrix,
                                        const LinkMatrix::Link* link) {
  std::vector<engine::FlowStatus> out;
  for (const engine::FlowStatus& flow : flows.flows) {
    if (flow.bytes_total <= 0) continue;
    if (link == nullptr || (matrix.partyOf(flow.source) == link->from &&
                            matrix.partyOf(flow.destination) == link->to)) {
      out.push_back(flow);
    }
  }
  return out;
}

double linkStrength(const LinkMatrix& matrix, std::int64_t bytes) {
  const auto largest = static_cast<double>(matrix.largest);
  const double span = std::max(largest / static_cast<double>(matrix.smallest), kColourSpan);
  const double below = std::log(largest / static_cast<double>(bytes)) / std::log(span);
  return std::pow(1 - (1 - kWeakest) * std::clamp(below, 0.0, 1.0), kGamma);
}

QString partyName(const LinkMatrix::Party& party) {
  return party.index ? format::device({party.node, *party.index}) : format::node(party.node);
}

QString linkName(const LinkMatrix& matrix, int from, int to) {
  const QString name = partyName(matrix.party(from));
  return from == to ? LinkWords::tr("inside %1").arg(name)
                    : LinkWords::tr("%1 → %2").arg(name, partyName(matrix.party(to)));
}

QString describeLink(const LinkMatrix& matrix, int from, int to) {
  const Party& source = matrix.party(from);
  const Party& destination = matrix.party(to);
  const QString ends = from == to ? LinkWords::tr("inside %1").arg(partyName(source))
                                  : LinkWords::tr("%1 to %2", "from a node to another")
                                        .arg(partyName(source), partyName(destination));
  const Link* link = matrix.find(from, to);
  QString text = link == nullptr
                     ? LinkWords::tr("%1: nothing").arg(ends)
                     : LinkWords::tr("%1: %2 in %3")
                           .arg(ends, format::bytes(link->bytes), flowCount(link->flows));
  if (link != nullptr && matrix.time == LinkTime::Moving) {
    const double done = static_cast<double>(link->done) / static_cast<double>(link->bytes);
    text += link->stalled ? LinkWords::tr(", stalled at %1").arg(format::percent(done))
                          : LinkWords::tr(", %1 done").arg(format::percent(done));
  }
  for (const Party* party : {&source, &destination}) {
    if (party == &destination && from == to) continue;
    if (party->dead) text += LinkWords::tr(", %1 is lost").arg(partyName(*party));
  }
  return text;
}

QString describeParty(const LinkMatrix& matrix, int party) {
  const Party& at = matrix.party(party);
  const auto amount = [](std::int64_t bytes) {
    return bytes == 0 ? LinkWords::tr("nothing") : format::bytes(bytes);
  };
  QString text = LinkWords::tr("%1 sends %2 and receives %3")
                     .arg(partyName(at), amount(at.sends), amount(at.receives));
  if (at.inside > 0) text += LinkWords::tr("; %1 inside it").arg(format::bytes(at.inside));
  if (at.dead) text += LinkWords::tr(", %1 is lost").arg(partyName(at));
  return text;
}

QString flowCount(std::int64_t number) {
  return number == 1 ? LinkWords::tr("1 flow")
                     : LinkWords::tr("%1 flows").arg(format::count(number));
}

QString aloneText(const LinkMatrix& matrix, const LinkMatrix::Link& link) {
  const auto speed = matrix.speedOf(link);
  if (!speed) return {};
  const QString rate = matrix.speedsFrom.isEmpty()
                           ? format::rate(*speed)
                           : LinkWords::tr("%1 (%2)").arg(format::rate(*speed), matrix.speedsFrom);
  return LinkWords::tr("%1, alone ≈ %2").arg(rate, format::seconds(*matrix.aloneSeconds(link)));
}

}  // namespace tessera::ui
