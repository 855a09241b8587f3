// SPDX-License-Identifier: Apache-2.0
#include "engine/search/exposure.h"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <vector>

#include "ptc/plan/exposure.h"

namespace tessera::engine {
namespace {

/// By rank.
std::vector<std::int32_t> DomainsOf(const ptc::DeviceMesh& mesh,
                                    const std::function<std::int32_t(ptc::DeviceId)>& domain) {
  std::vector<std::int32_t> domains;
  for (const ptc::DeviceId device : mesh.devices()) domains.push_back(domain(device));
  return domains;
}

/// The domain with the most bytes, the lowest one of several.
Survival WorstOf(const std::map<std::int32_t, std::int64_t>& held_only_in) {
  Survival worst;
  for (const auto& [domain, bytes] : held_only_in) {
    if (bytes > worst.bytes) worst = {domain, bytes};
  }
  return worst;
}

Survival NodeOf(const ptc::Kinds& kinds, const ptc::DeviceMesh& mesh) {
  const auto nodes = DomainsOf(mesh, [](ptc::DeviceId device) { return device.node; });
  return WorstOf(HeldOnlyIn(kinds, nodes));
}

}  // namespace

int Exposure::level() const {
  if (rack_bytes == 0) return 3;
  if (node.of_any_node()) return 2;
  return device_bytes == 0 ? 1 : 0;
}

Exposure ExposureOf(const ptc::Kinds& kinds, const ptc::DeviceMesh& mesh,
                    const ptc::Topology& topology) {
  std::vector<std::int32_t> ranks(mesh.devices().size());
  std::iota(ranks.begin(), ranks.end(), 0);
  const auto racks = DomainsOf(
      mesh, [&](ptc::DeviceId device) { return topology.RackOf(topology.HostOf(device)); });
  return {.device_bytes = WorstOf(HeldOnlyIn(kinds, ranks)).bytes,
          .node = NodeOf(kinds, mesh),
          .rack_bytes = WorstOf(HeldOnlyIn(kinds, racks)).bytes};
}

Survival SurvivalOf(const ptc::Layout& layout) {
  return NodeOf(ptc::MakeKinds(layout, layout), layout.mesh());
}

}  // namespace tessera::engine
