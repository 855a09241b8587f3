// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The bytes that are in place if a device gets a rank.

#include <cstdint>
#include <optional>
#include <vector>

#include "ptc/plan/device_table.h"
#include "ptc/plan/holders.h"
#include "ptc/plan/kinds.h"
#include "ptc/plan/needs.h"

namespace tessera::ptc {

/// A device that may get a rank.
struct Candidate {
  std::optional<int> old_rank;
  int host = 0;                  // number among the hosts of candidates
  std::optional<int> held_host;  // number of that host in the device table, if it is there
};

class PlacementProblem {
 public:
  /// `trial` has the requested mesh shape, with its ranks on any of `devices`, which are ascending.
  /// State on `lost` devices does not count.
  PlacementProblem(const Layout& from, const Layout& trial, const std::vector<DeviceId>& devices,
                   const Topology& topology, const std::vector<DeviceId>& lost);
  PlacementProblem(const PlacementProblem&) = delete;
  PlacementProblem& operator=(const PlacementProblem&) = delete;

  int num_ranks() const { return kinds_.to.mesh().num_ranks(); }
  const std::vector<Candidate>& candidates() const { return candidates_; }
  int num_hosts() const { return num_hosts_; }
  int num_classes() const { return static_cast<int>(classes_.list().size()); }
  const std::vector<Need>& NeedsOf(int rank) { return needs_.Of(rank); }
  /// The candidates that hold a class, ordered by host.
  std::vector<int> HoldersOf(int held_class);
  /// The bytes that the rank needs and the candidate, or any device on its host, holds.
  std::int64_t OnDevice(int rank, int candidate);
  std::int64_t OnHost(int rank, int candidate);
  /// The candidate of each rank such that the most bytes are in place, then on the host, then in
  /// ascending order. Exact.
  /// \pre no more ranks than candidates
  std::vector<int> Assign(const std::vector<int>& ranks, const std::vector<int>& candidates);

 private:
  Kinds kinds_;
  Classes classes_;
  DeviceTable table_;
  Holders holders_;
  NeedsOfRanks needs_;
  std::vector<Candidate> candidates_;
  std::vector<std::optional<int>> candidate_of_;  // by position in the device table
  int num_hosts_ = 0;
};

}  // namespace tessera::ptc
