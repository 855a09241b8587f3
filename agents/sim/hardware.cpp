// SPDX-License-Identifier: Apache-2.0
#include "agents/sim/hardware.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "ptc/base/utf8.h"

namespace tessera::agents::sim {
namespace {

constexpr std::int64_t kGiB = std::int64_t{1} << 30;
/// The share of the peak that matrix products reach in training. Chowdhery et al. 2022 (PaLM),
/// table 3, and Grattafiori et al. 2024, table 4, report 38 to 46 % of the whole step, in which
/// everything else counts too.
constexpr double kReachedShare = 0.5;

// Peaks of dense bf16, memory and NVLink: NVIDIA's data sheets of A100 and H100 SXM. The network is
// that of a DGX: eight adapters per node, of 200 and 400 Gb/s. NVIDIA's reference architecture of
// the DGX SuperPOD has four of them in a rack.
const std::vector<Hardware>& All() {
  static const std::vector<Hardware> all = {
      {"demo", "small and slow machines on which moves can be watched", 512 << 20, 2e11, 5e10, 2e9,
       1e8},
      {"a100", "A100 SXM 80 GB, NVLink, 8 x 200 Gb/s per node", 80 * kGiB, 312e12 * kReachedShare,
       2.0e12, 300e9, 200e9},
      {"h100", "H100 SXM 80 GB, NVLink, 8 x 400 Gb/s per node", 80 * kGiB, 989e12 * kReachedShare,
       3.35e12, 450e9, 400e9},
  };
  return all;
}

/// Each of the 2 (n - 1) rounds of a ring sends an n-th of the bytes (Thakur et al. 2005).
engine::LinkCost RingOf(int ranks, double latency, double bandwidth, double passes) {
  const double rounds = passes * (ranks - 1);
  return {rounds * latency, rounds / ranks / bandwidth};
}

engine::CollectiveCost CollectiveOf(double latency, double bandwidth, double passes) {
  return {RingOf(2, latency, bandwidth, passes), RingOf(4, latency, bandwidth, passes),
          RingOf(8, latency, bandwidth, passes)};
}

}  // namespace

std::vector<std::string> HardwareNames() {
  std::vector<std::string> names;
  for (const Hardware& hardware : All()) names.push_back(hardware.name);
  return names;
}

Result<Hardware> FindHardware(std::string_view name) {
  const auto found = std::ranges::find(All(), name, &Hardware::name);
  if (found != All().end()) return *found;
  return NotFound(
      fmt::format("no hardware '{}'; there are {}", Escaped(name),
                  fmt::join(HardwareNames(), ", ")));
}

engine::Calibration CalibrationOf(const Hardware& hardware, int devices) {
  // Of a message: a few microseconds inside a node, ten between nodes.
  constexpr double kNodeLatency = 3e-6, kNetworkLatency = 1e-5;
  constexpr double kKernels = 1.5e-4;  // each layer forward and backward: launches
  constexpr double kReduce = 2, kGather = 1;
  // Bytes of memory traffic: an activation is written and read again; a gradient is zeroed, added
  // to and read; AdamW reads four values of a parameter and writes three.
  constexpr double kElementBytes = 8, kGradientBytes = 16, kUpdateBytes = 28;
  engine::Calibration out;
  out.cpu = "simulated " + hardware.name;
  // The cost model shares the cores of a machine among its ranks. Here each rank has a device.
  out.cores = devices;
  out.all_cores_speed = std::max(1, devices);
  out.layer_seconds = kKernels;
  out.flops_per_second = hardware.flops_per_second;
  out.element_seconds = kElementBytes / hardware.memory_bytes_per_second;
  out.gradient_seconds = kGradientBytes / hardware.memory_bytes_per_second;
  out.update_seconds = kUpdateBytes / hardware.memory_bytes_per_second;
  const double inside = hardware.device_bytes_per_second;
  // All devices of a node use its port at the same time.
  const double between = hardware.network_bytes_per_second / devices;
  out.shared_all_reduce = CollectiveOf(kNodeLatency, inside, kReduce);
  out.network_all_reduce = CollectiveOf(kNetworkLatency, between, kReduce);
  out.shared_gather = CollectiveOf(kNodeLatency, inside, kGather);
  out.network_gather = CollectiveOf(kNetworkLatency, between, kGather);
  out.shared_send = {kNodeLatency, 1 / inside};
  out.network_send = {kNetworkLatency, 1 / between};
  out.step_seconds = 1e-3;
  return out;
}

ptc::Topology SpeedsOf(const Hardware& hardware) {
  ptc::Topology out;
  out.host_bytes_per_second = hardware.device_bytes_per_second;
  out.network_bytes_per_second = hardware.network_bytes_per_second;
  out.source = "simulated " + hardware.name;
  return out;
}

}  // namespace tessera::agents::sim
