// SPDX-License-Identifier: Apache-2.0
#include "engine/search/estimate.h"

#include <algorithm>
#include <map>
#include <utility>
#include <variant>

#include "ptc/base/check.h"
#include "ptc/dtype.h"

namespace tessera::engine {
namespace {

template <typename Key>
double Largest(const std::map<Key, std::int64_t>& bytes) {
  std::int64_t most = 0;
  for (const auto& [key, value] : bytes) most = std::max(most, value);
  return static_cast<double>(most);
}

double LargestState(const ptc::Layout& layout) {
  std::int64_t most = 0;
  for (int rank = 0; rank < layout.mesh().num_ranks(); ++rank) {
    most = std::max(most, layout.BytesOf(rank));
  }
  return static_cast<double>(most);
}

}  // namespace

double EstimatePause(const ptc::Plan& plan, const ptc::Layout& from, const ptc::Layout& to,
                     const ptc::Topology& topology, const PauseCosts& costs) {
  TESSERA_DCHECK(plan.from_hash == from.hash() && plan.to_hash == to.hash());
  enum class Direction { kOut, kIn };
  std::map<std::pair<std::int32_t, Direction>, std::int64_t> network_port;  // of hosts
  std::map<std::pair<ptc::DeviceId, Direction>, std::int64_t> host_port;
  std::map<std::pair<ptc::DeviceId, Direction>, std::int64_t> passed_on;
  std::map<ptc::DeviceId, std::int64_t> repacked;
  const auto bytes_of = [&to](int tensor, const ptc::Box& cell) {
    const auto& spec = to.collection().tensors()[static_cast<std::size_t>(tensor)];
    return cell.num_elements() * ptc::SizeBytes(spec.dtype);
  };
  for (const ptc::Move& move : plan.moves) {
    if (const auto* local = std::get_if<ptc::LocalCopy>(&move)) {
      repacked[local->device] += bytes_of(local->tensor, local->cell);
    } else if (const auto* remote = std::get_if<ptc::RemoteCopy>(&move)) {
      const std::int64_t bytes = bytes_of(remote->tensor, remote->cell);
      if (topology.HostOf(remote->source) == topology.HostOf(remote->device)) {
        auto& port = remote->forwarded ? passed_on : host_port;
        port[{remote->source, Direction::kOut}] += bytes;
        port[{remote->device, Direction::kIn}] += bytes;
      } else {
        network_port[{topology.HostOf(remote->source), Direction::kOut}] += bytes;
        network_port[{topology.HostOf(remote->device), Direction::kIn}] += bytes;
      }
    }
  }
  double transfer = Largest(host_port) / topology.host_bytes_per_second;
  for (const auto& [port, bytes] : network_port) {
    transfer = std::max(transfer, static_cast<double>(bytes) / topology.NetworkOf(port.first));
  }
  transfer += Largest(passed_on) / topology.host_bytes_per_second;
  return costs.fixed_seconds + transfer + Largest(repacked) / costs.repack_bytes_per_second +
         LargestState(from) / costs.digest_bytes_per_second;
}

}  // namespace tessera::engine
