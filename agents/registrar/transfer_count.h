// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The bytes of one transaction: what the plan moves, and what the nodes report that they moved.

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "engine/cluster/snapshot.h"
#include "ptc/mesh.h"

namespace tessera::wire {
class TxnProgress;
}

namespace tessera::agents {

/// Counts are never cut to the plan's totals: a transfer that moves more than planned shows it.
class TransferCount {
 public:
  /// `planned`: one flow per pair of devices, with its total.
  explicit TransferCount(const std::vector<engine::FlowStatus>& planned = {});

  /// Takes over the counts of one node. Counts are cumulative and reports may arrive out of order,
  /// so the largest count of each flow is kept. Flows to devices of other nodes and malformed rows
  /// are ignored. A flow that is not in the plan is added with a total of 0, unless there are many
  /// already. `seconds`: since the transfer began, for the rates; 0: the rates are kept.
  void Note(std::int32_t node, const wire::TxnProgress& report, double seconds);

  /// In order of source and destination.
  /// \param seconds since the transfer began, for the states; 0: no flow is stalled
  std::vector<engine::FlowStatus> flows(double seconds = 0) const;
  /// Bytes that have arrived, of all flows and of a hand-in.
  std::int64_t bytes() const { return bytes_; }

 private:
  struct Flow {
    engine::FlowStatus status;
    double grew = 0;  // seconds, when bytes arrived last
  };
  /// Flows from other sources than planned, beside one for each planned.
  static constexpr std::size_t kMostOthers = 1000;

  void Add(std::int64_t bytes);

  std::size_t most_flows_;
  std::map<std::pair<ptc::DeviceId, ptc::DeviceId>, Flow> flows_;
  std::map<std::int32_t, std::int64_t> handed_in_;  // bytes by node
  std::int64_t bytes_ = 0;                          // the sum of both
};

}  // namespace tessera::agents
