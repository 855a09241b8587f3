// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// What it is worth that a device plays a rank.

#include <cstdint>
#include <optional>
#include <vector>

#include "ptc/plan/device_table.h"
#include "ptc/plan/holders.h"
#include "ptc/plan/kinds.h"
#include "ptc/plan/needs.h"

namespace tessera::ptc {

/// A device that may play a rank. Positions are those of a PlacementProblem.
struct Candidate {
  std::optional<int> old_rank;
  int host = 0;                  // among the hosts of candidates
  std::optional<int> held_host;  // the same host among those of the layouts
};

class PlacementProblem {
 public:
  /// `trial` has the wanted mesh shape, with its ranks on any of `devices`, which are ascending.
  /// What `lost` devices had counts for nothing.
  PlacementProblem(const Layout& from, const Layout& trial, const std::vector<DeviceId>& devices,
                   const Topology& topology, const std::vector<DeviceId>& lost);
  PlacementProblem(const PlacementProblem&) = delete;
  PlacementProblem& operator=(const PlacementProblem&) = delete;

  int num_ranks() const { return kinds_.to.mesh().num_ranks(); }
  const std::vector<Candidate>& candidates() const { return candidates_; }
  int num_hosts() const { return num_hosts_; }
  int num_classes() const { return static_cast<int>(classes_.list().size()); }
  const std::vector<Need>& NeedsOf(int rank) { return needs_.Of(rank); }
  /// Candidates that hold a class, by host.
  std::vector<int> HoldersOf(int held_class);
  /// Bytes that the rank needs and the candidate has, itself or somewhere on its host.
  std::int64_t OnDevice(int rank, int candidate);
  std::int64_t OnHost(int rank, int candidate);
  /// The candidate of each rank so that most bytes are in place, then on the host; ties in
  /// ascending order. Exact. \pre no more ranks than candidates
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
