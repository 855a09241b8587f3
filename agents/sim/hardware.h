// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The machines of a simulated cluster: the speeds from which the times of steps and moves follow.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/search/calibration.h"
#include "ptc/base/result.h"
#include "ptc/topology/topology.h"

namespace tessera::agents::sim {

/// The memory of a device is a multiple of this.
inline constexpr std::int64_t kMemoryUnit = 4096;

/// Bandwidths are those of one direction.
struct Hardware {
  std::string name;   // "h100"
  std::string title;  // "H100 SXM 80 GB, NVLink, 8 x 400 Gb/s per node"
  std::int64_t device_bytes = 0;
  double flops_per_second = 0;          // of matrix products, as jobs reach it
  double memory_bytes_per_second = 0;   // of a device
  double device_bytes_per_second = 0;   // the port of a device inside its node
  double network_bytes_per_second = 0;  // the port of a node
  int nodes_per_rack = 4;               // if the cluster says nothing else
};

/// The names of the known hardware.
std::vector<std::string> HardwareNames();
/// \error kNotFound naming it and the known ones
Result<Hardware> FindHardware(std::string_view name);

/// What the cost model needs for nodes of `devices` devices each.
engine::Calibration CalibrationOf(const Hardware& hardware, int devices);
/// Its bandwidths, without hosts.
ptc::Topology SpeedsOf(const Hardware& hardware);

}  // namespace tessera::agents::sim
