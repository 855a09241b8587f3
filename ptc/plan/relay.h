// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Finds the bytes that several devices of a node receive from other hosts, so that they can cross
/// the network once.

#include <vector>

#include "ptc/plan/device_table.h"
#include "ptc/plan/holders.h"
#include "ptc/plan/needs.h"
#include "ptc/plan/outline.h"

namespace tessera::ptc {

/// All bytes that can be relayed, ordered as in Outline::relays. Nodes with the same needs are
/// examined once.
std::vector<Relay> FindRelays(const Kinds& kinds, const Classes& classes, const DeviceTable& table,
                              const Holders& holders);

/// Reduces the demand of each device to its own ranges of the relayed bytes.
/// \pre `demands` are those of FindNeeds for the same table
std::vector<Demand> WithoutForwarded(std::vector<Demand> demands, const std::vector<Relay>& relays);

/// Bytes that each device sends and receives inside its host to forward relayed bytes.
struct ForwardLoads {
  ForwardLoads(const std::vector<Relay>& relays, std::size_t num_devices);
  std::vector<std::int64_t> out, in;  // by device
  std::int64_t total = 0;
  std::int64_t most() const;  // of one device in one direction
};

}  // namespace tessera::ptc
