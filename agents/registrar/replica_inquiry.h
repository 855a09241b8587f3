// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Finds the cells in which replicas differ. Nodes report one hash per device and group of cells;
/// if hashes of a group differ, its nodes are asked for the digests of its cells.

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "agents/move/state_digests.h"
#include "agents/registrar/registrar_part.h"
#include "agents/wire/messages_fwd.h"
#include "ptc/layout.h"

namespace tessera::agents {

/// The replicas of one side of a transaction.
struct ReplicaSide {
  std::int64_t transaction = 0;
  ptc::Layout from, to;
  std::vector<ptc::DeviceId> lost;
  bool before = false;  // of the old layout
};

class ReplicaInquiry : public RegistrarPart {
 public:
  explicit ReplicaInquiry(const Common& common) : RegistrarPart(common) {}

  /// Asks about the first of these groups. Adds an event that names tensor, cell, devices and
  /// digests for each group whose nodes answer. Questions about an earlier transaction end.
  void Ask(const ReplicaSide& side, const std::vector<GroupDifference>& differences);
  void OnCells(std::int32_t node, const wire::GroupCells& message);

 private:
  struct Question {
    ReplicaSide side;
    int group = 0;
    std::set<std::int32_t> waiting;
    std::vector<DeviceDigests> cells;
  };
  void Answer(const Question& question) const;

  std::vector<Question> questions_;
};

/// "replicas differ: n0g0 and n0g2 hold different state" for the first of them, and how many more
/// groups differ.
std::string DifferenceText(const std::vector<GroupDifference>& differences);

}  // namespace tessera::agents
