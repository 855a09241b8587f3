// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// A way between devices of different nodes that does not pass through their hosts. Unlike lanes,
/// where the receiver asks, both ends of a flow know what it carries.

#include <cstdint>
#include <functional>
#include <stop_token>
#include <utility>
#include <vector>

#include "engine/copy/device_memory.h"
#include "ptc/base/result.h"
#include "ptc/mesh.h"

namespace tessera::engine {

/// Source and destination of a flow.
using ExchangeEnds = std::pair<ptc::DeviceId, ptc::DeviceId>;

/// What one device sends to a device of another node. One of them is of this node.
struct ExchangeFlow {
  struct Cell {
    DeviceCell cell;          // at this end
    CellView indices;         // of IndicesOf
    std::int64_t number = 0;  // for `arrived`
  };
  ptc::DeviceId source, destination;
  bool is_sent = false;     // by this node
  std::vector<Cell> cells;  // the same, in the same order, at both ends
};

/// \threadsafety One thread at a time.
class DeviceExchange {
 public:
  DeviceExchange() = default;
  DeviceExchange(const DeviceExchange&) = delete;
  DeviceExchange& operator=(const DeviceExchange&) = delete;
  virtual ~DeviceExchange() = default;

  /// Part of a cell that has arrived and equals its source. `digest` is that of the part.
  using Arrived = std::function<void(const ExchangeFlow& flow, std::int64_t number,
                                     std::int64_t bytes, std::uint64_t digest)>;
  /// Carries out all flows of this node, while the other nodes carry out theirs.
  /// \error kDataLoss naming the devices if bytes have not arrived as they were sent; kCancelled;
  ///     kUnavailable naming device or library, and call
  virtual Status Run(const std::vector<ExchangeFlow>& flows, const Arrived& arrived,
                     const std::stop_token& stop) = 0;
};

}  // namespace tessera::engine
