// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// How long a reconfiguration will pause a job: the estimate that is shown before a change is
/// confirmed.

#include <cstdint>
#include <vector>

#include "ptc/plan/outline.h"

namespace tessera::engine {

/// The costs of a pause besides the transfer. The rates are those of one core. The defaults are
/// rounded from tests/bench/copy_bench and move_bench, for a machine whose cores are shared by
/// devices: fixed_seconds is that of a small job. Give the median of past pauses of the same
/// cluster if there are any.
struct PauseCosts {
  /// Messages, journals, the decision, binding the new groups: independent of the bytes moved.
  double fixed_seconds = 0.03;
  /// Repacking on a device: copies of short runs.
  double repack_bytes_per_second = 5e9;
  /// What the digests of source and destination add to a copy within a host.
  double digest_bytes_per_second = 10e9;
  /// What each round of a move in rounds adds: a table, and messages to all nodes and back, before
  /// the next one begins. An assumption: no bench has measured it.
  double round_seconds = 0.01;
};

/// Where copies inside a host are faster than those of a core, GPUs make them: they digest as fast
/// as they copy, and repack half as fast.
PauseCosts CostsOn(const ptc::Topology& topology);

/// fixed + max(network, host) + forwarded + repack + digests, where
/// - network: the most bytes through the port of one host in one direction, at the rate of the
/// network;
/// - host: the most bytes that one device sends or receives inside its host, at the rate of the
/// host;
/// - forwarded: the same for forwarded bytes, which are sent after all others;
/// - repack: the most bytes that one device copies to itself;
/// - digests: the most bytes that one device repacks, or sends or receives inside its host.
/// Network and host run at the same time. A copy and its digests are one pass over the memory.
/// What stays in place is not read, but for replicas: see SecondsOfReplicas. The cost grows with
/// flows, not with moves.
/// \return seconds, at the bandwidths of the plan's topology
double EstimatePause(const ptc::Outline& plan, const PauseCosts& costs);
/// With CostsOn the plan's topology.
double EstimatePause(const ptc::Outline& plan);
/// Of a plan in parts, which move one after another: the fixed costs come once.
double EstimatePause(const std::vector<ptc::Outline>& parts);
/// What the comparison of the replicas that the change drops adds to a pause in which the state is
/// copied: the most bytes that one device reads, at the rate of digests.
double SecondsOfReplicas(const ptc::Layout& from, const ptc::Layout& to,
                         const ptc::Topology& topology,
                         const std::vector<ptc::DeviceId>& lost = {});
/// What `rounds` rounds add to the pause of a move at once.
double SecondsOfRounds(std::int64_t rounds);

}  // namespace tessera::engine
