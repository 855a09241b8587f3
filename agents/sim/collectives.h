// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The groups of ranks of a simulated job, and the step decision that each of their steps needs.

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <tuple>

#include "agents/job/rank_protocol.h"

namespace tessera::agents::sim {

class SimRank;

/// The ranks of one attempt.
struct Group {
  int world = 0;
  std::map<int, SimRank*> members;       // by rank
  bool is_broken = false;                // a member has ended
  std::map<int, std::uint64_t> arrived;  // requests for a pause, by rank that waits
};

class Collectives {
 public:
  /// Of a job and an attempt, with `world` ranks.
  std::shared_ptr<Group> Find(const std::string& job, Attempt attempt, int world) {
    if (groups_.size() > kMost) {
      std::erase_if(groups_, [](const auto& entry) { return entry.second.expired(); });
    }
    std::weak_ptr<Group>& known = groups_[{job, attempt.epoch, attempt.attempt}];
    std::shared_ptr<Group> group = known.lock();
    // The first attempt of each job with this name has the same numbers.
    const bool is_over = group && group->is_broken && group->members.empty();
    if (group && !is_over) return group;
    group = std::make_shared<Group>(Group{world, {}, false, {}});
    known = group;
    return group;
  }

 private:
  static constexpr std::size_t kMost = 64;  // then those that no rank has any more are forgotten
  std::map<std::tuple<std::string, std::int64_t, std::int64_t>, std::weak_ptr<Group>> groups_;
};

}  // namespace tessera::agents::sim
