// SPDX-License-Identifier: Apache-2.0
#include "tests/ptc/changes.h"

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>
#include <vector>

#include "ptc/plan/plan.h"

namespace tessera::test {
namespace {

using ptc::Axis;
using ptc::DeviceId;

constexpr int kDevicesOfHost = 8;

ptc::CollectionPtr Decoder(std::int64_t layers, bool zero) {
  struct Kind {
    const char* name;
    ptc::Shape shape;
    std::size_t cut_dim;  // 2: replicated
    ptc::StagePlace place;
  };
  const std::array<Kind, 7> kinds = {{
      {"embedding", {4000, 256}, 0, ptc::StagePlace::kFirst},
      {"query", {256, 256}, 0, ptc::StagePlace::kLayer},
      {"out", {256, 256}, 1, ptc::StagePlace::kLayer},
      {"up", {1024, 256}, 0, ptc::StagePlace::kLayer},
      {"down", {256, 1024}, 1, ptc::StagePlace::kLayer},
      {"norm", {256}, 2, ptc::StagePlace::kLayer},
      {"head", {4000, 256}, 0, ptc::StagePlace::kLast},
  }};
  std::vector<ptc::TensorSpec> specs;
  for (const Kind& kind : kinds) {
    const bool in_layer = kind.place == ptc::StagePlace::kLayer;
    for (std::int64_t layer = 0; layer < (in_layer ? layers : 1); ++layer) {
      for (const char* state : {"", ".exp_avg", ".exp_avg_sq"}) {
        ptc::TensorSpec spec;
        spec.name = std::to_string(layer) + "." + kind.name + state;
        spec.shape = kind.shape;
        spec.place = kind.place;
        spec.layer = in_layer ? layer : 0;
        spec.rule.dims.resize(kind.shape.size());
        if (kind.cut_dim < 2) spec.rule.dims[kind.cut_dim].axes = {Axis::kTp};
        if (zero && *state != '\0') spec.rule.flat = {Axis::kDp};
        specs.push_back(std::move(spec));
      }
    }
  }
  return *ptc::Collection::Make(std::move(specs), layers);
}

ptc::MeshShape AnyShape(std::mt19937_64& rng, std::int64_t ranks, std::int64_t layers) {
  ptc::MeshShape shape;
  shape[Axis::kTp] = std::int64_t{1} << rng() % 4;
  do {
    shape[Axis::kPp] = std::int64_t{1} << rng() % 3;
  } while (shape[Axis::kPp] > layers || ranks % (shape[Axis::kTp] * shape[Axis::kPp]) != 0);
  shape[Axis::kDp] = ranks / (shape[Axis::kTp] * shape[Axis::kPp]);
  return shape;
}

std::vector<DeviceId> DevicesOn(const std::vector<std::int32_t>& hosts) {
  std::vector<DeviceId> devices;
  for (std::int32_t host : hosts) {
    for (std::int32_t index = 0; index < kDevicesOfHost; ++index) devices.push_back({host, index});
  }
  return devices;
}

}  // namespace

Change AnyChange(std::mt19937_64& rng, int max_hosts) {
  const auto any = [&rng](int most) {
    return 1 + static_cast<int>(rng() % static_cast<unsigned>(most));
  };
  const auto layers = static_cast<std::int64_t>(4 + rng() % 5);
  const bool zero = rng() % 3 == 0;
  std::vector<std::int32_t> all;
  for (std::int32_t host = 0; host < max_hosts; ++host) all.push_back(host);
  std::shuffle(all.begin(), all.end(), rng);
  const auto some = [&](int first, int count) {
    std::vector<std::int32_t> hosts(all.begin() + first, all.begin() + first + count);
    std::sort(hosts.begin(), hosts.end());
    return hosts;
  };
  const int before = any(max_hosts);
  const int failed = rng() % 4 == 0 ? any(std::min(before, max_hosts - 1)) : 0;
  const int left = max_hosts - failed;
  const int after = rng() % 3 == 0 ? std::min(before, left) : any(left);  // fewer, more, the same
  const auto old_devices = DevicesOn(some(0, before));
  const auto new_devices = DevicesOn(some(failed, after));
  const auto lost = DevicesOn(some(0, failed));
  const ptc::MeshShape old_shape = AnyShape(rng, std::ssize(old_devices), layers);
  const ptc::MeshShape new_shape = AnyShape(rng, std::ssize(new_devices), layers);

  ptc::Topology topology;
  constexpr std::array<std::pair<double, double>, 3> kSpeeds = {
      {{6e9, 1e9}, {3e11, 5e10}, {1e10, 1e10}}};
  std::tie(topology.host_bytes_per_second, topology.network_bytes_per_second) =
      kSpeeds[rng() % kSpeeds.size()];
  const bool racks = rng() % 3 == 0;
  if (racks) {
    constexpr std::array kRatios = {0.5, 1.0, 2.0, 3.0};
    topology.rack_bytes_per_second =
        topology.network_bytes_per_second * kRatios[rng() % kRatios.size()];
    for (std::int32_t host : all)
      topology.rack_of_host[host] = static_cast<std::int32_t>(rng() % 3);
  }

  const auto from =
      *ptc::Layout::Make(*ptc::DeviceMesh::Make(old_shape, old_devices), Decoder(layers, zero));
  const auto collection = Decoder(layers, rng() % 6 == 0 ? !zero : zero);
  const auto mesh = *ptc::Place(from, new_shape, collection, new_devices, topology, {}, lost);
  const auto describe = [](const ptc::MeshShape& shape, int hosts) {
    return ToString(shape) + " on " + std::to_string(hosts) + " hosts";
  };
  std::string text = describe(old_shape, before) + " -> " + describe(new_shape, after);
  if (failed > 0) text += ", " + std::to_string(failed) + " failed";
  if (racks) text += ", racks";
  return {from, *ptc::Layout::Make(mesh, collection), topology, lost, text};
}

}  // namespace tessera::test
