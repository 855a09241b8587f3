// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Chooses the holders that send to each device, and computes the load of every port.
///
/// A holder on the same host is preferred to all others. If rack ports have a limit, a holder in
/// the same rack is preferred as long as that costs no time (rack_balance.h). This fixes the bytes
/// that each port receives. The bytes to send are divided among the holders of a class so that the
/// last port finishes as early as possible (balance.h). There are three such divisions: among the
/// devices of each host, among hosts, and among the devices of each sending host.
///
/// Bytes without a holder come from storage, which is outside all hosts and racks. They load only
/// the ports of the device that needs them.

#include <vector>

#include "ptc/plan/device_table.h"
#include "ptc/plan/holders.h"
#include "ptc/plan/needs.h"
#include "ptc/plan/outline.h"
#include "ptc/plan/relay.h"

namespace tessera::ptc {

struct Sources {
  std::vector<ClassFlow> flows;      // in the order of the demands
  std::vector<StorageNeed> storage;  // in the order of the demands
  std::int64_t host_bytes = 0;
  std::int64_t network_bytes = 0;
  BusiestPort busiest_port;      // with the forwarded bytes
  double seconds_to_arrive = 0;  // of the port that finishes last, without the forwarded bytes
  PortPrices port_prices;
};
/// \param demands as FindNeeds orders them
/// \param forwards what devices of a node forward to each other. It is part of host_bytes
Sources ChooseSources(const std::vector<Demand>& demands, const Holders& holders,
                      const DeviceTable& table, const Topology& topology,
                      const ForwardLoads& forwards);

}  // namespace tessera::ptc
