// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Which holders send to each device, and what that puts on every port.
///
/// Topology first: a holder on the host of the needer, else any; where racks limit, one in its rack
/// as far as that costs no time (rack_balance.h). What a device receives through its ports is then
/// fixed; what is sent is divided among the holders of a class so that the last port is done as
/// early as can be (balance.h): among the devices of a host, among hosts, and then among the
/// devices of each sending host. What nobody
/// holds comes from storage, which is outside all hosts and racks: through the ports of the needer.

#include <vector>

#include "ptc/plan/device_table.h"
#include "ptc/plan/needs.h"
#include "ptc/plan/outline.h"

namespace tessera::ptc {

struct Sources {
  std::vector<ClassFlow> flows;      // in the order of the demands
  std::vector<StorageNeed> storage;  // in the order of the demands
  std::int64_t host_bytes = 0;
  std::int64_t network_bytes = 0;
  BusiestPort busiest_port;
  PortPrices port_prices;
};
Sources ChooseSources(const std::vector<Demand>& demands, const Kinds& kinds,
                      const Classes& classes, const DeviceTable& table, const Topology& topology);

}  // namespace tessera::ptc
