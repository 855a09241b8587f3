// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// A cluster in one process: the real Registrar and the real NodeAgent of each node, on a virtual
/// clock, with simulated ranks, keepers, network and disks, and with faults of all of them.
///
/// A seed determines everything, so a failure can be repeated.

#include <cstdint>
#include <functional>
#include <string>

namespace tessera::agents::sim {

struct ClusterResult {
  std::string violation;  // with the time; empty: none
  std::int64_t events = 0, steps = 0;
  std::int64_t transactions = 0, commits = 0, recoveries = 0;
  std::int64_t overlapped = 0;  // commits whose state was copied while ranks computed
  std::int64_t followed = 0;    // and over several steps
  std::int64_t in_rounds = 0;   // commits whose state moved in rounds
  std::int64_t left = 0;        // moves in rounds that were given up because a node was lost,
  std::int64_t from_left = 0;   // and recoveries from what they have left
  std::int64_t digests = 0;     // commits with digests in their record
};

/// A cluster that trains, with faults in the first half minute. It ends when all is well
/// afterwards, after a minute at the latest, and one in five after the minute in any case. What
/// must hold:
/// - `commit` is written only after every participant that is not lost has journaled `verified`;
/// - a device is in a later epoch only after the register holds its commit;
/// - the ranks that make a step are all of the committed epoch and timeline, and each on the whole
///   state after the step before;
/// - a device never has two ranks; no rank is killed inside an update that is of use;
/// - nobody is told an outcome that the register does not hold;
/// - without any fault of a process, a link or a device, no job is suspended;
/// and at the end: no transaction is left; the job makes steps, unless state was really lost; each
/// device of its layout has one rank, and no other device has one; the history has each step once,
/// in order, with its loss.
/// `trace`, if given, gets a line for each event.
ClusterResult SimulateCluster(std::uint64_t seed,
                              std::function<void(const std::string& line)> trace = {});

}  // namespace tessera::agents::sim
