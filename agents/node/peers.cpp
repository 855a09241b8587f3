// SPDX-License-Identifier: Apache-2.0
#include "agents/node/peers.h"

#include <fmt/format.h>

#include <map>
#include <string>

#include "agents/job/rank_view.h"
#include "agents/wire/tessera/wire/node.pb.h"

namespace tessera::agents {

ptc::Topology TopologyOf(const Peers& peers) {
  ptc::Topology topology;
  std::map<std::string, std::int32_t> hosts;
  for (const wire::Peer& peer : peers) {
    const auto [it, fresh] = hosts.emplace(peer.host(), peer.node());
    topology.host_of_node[peer.node()] = it->second;
  }
  return topology;
}

Result<ptc::Topology> TopologyOf(const wire::Prepare& prepare) {
  if (prepare.topology().empty()) return TopologyOf(prepare.peers());
  TESSERA_TRY(ptc::Cluster cluster, ptc::ParseCluster("the plan's topology", prepare.topology()));
  return std::move(cluster.topology);
}

const wire::Peer* FindPeer(const Peers& peers, std::int32_t node) {
  for (const wire::Peer& peer : peers) {
    if (peer.node() == node) return &peer;
  }
  return nullptr;
}

RankView ViewOf(const ptc::Layout& layout, int rank, std::int64_t epoch, std::int64_t attempt,
                std::int64_t micro_batch, const Peers& peers) {
  const ptc::DeviceMesh& mesh = layout.mesh();
  RankView view;
  view.epoch = epoch;
  view.attempt = attempt;
  view.micro_batch = micro_batch;
  view.rank = rank;
  view.world = mesh.num_ranks();
  for (const ptc::Axis axis : ptc::kAxes) {
    const auto i = static_cast<std::size_t>(axis);
    view.axis_size[i] = mesh.shape()[axis];
    view.axis_coord[i] = mesh.Coordinate(rank, axis);
  }
  std::map<std::int32_t, const std::string*> addresses;
  for (const wire::Peer& peer : peers) addresses.emplace(peer.node(), &peer.address());
  const std::size_t world = mesh.devices().size();
  view.node_of_rank.reserve(world);
  view.host_of_rank.reserve(world);
  view.address_of_rank.reserve(world);
  auto address = addresses.end();
  for (const ptc::DeviceId device : mesh.devices()) {
    // Neighbours are often on one node.
    if (address == addresses.end() || address->first != device.node) {
      address = addresses.find(device.node);
    }
    view.node_of_rank.push_back(device.node);
    // The shared memory of a group belongs to one agent, so only the ranks of one node can share
    // it, even if several nodes are on one host.
    view.host_of_rank.push_back(device.node);
    view.address_of_rank.push_back(address == addresses.end() ? "" : *address->second);
  }
  return view;
}

}  // namespace tessera::agents
