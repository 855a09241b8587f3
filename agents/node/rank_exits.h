// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Reports the ranks whose processes have ended, until the registrar has noted it.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "agents/keeper/keeper_link.h"
#include "agents/node/held_jobs.h"
#include "agents/node/node_links.h"
#include "agents/node/rank_table.h"
#include "agents/node/uplink.h"
#include "agents/wire/tessera/wire/node.pb.h"

namespace tessera::agents {

/// The keeper keeps an exit until it is acknowledged, so that neither a restart of the agent nor a
/// lost message hides it. Exits that nobody waits for are acknowledged at once.
/// \threadsafety The loop's thread.
class RankExits {
 public:
  /// A transaction that starts a rank.
  struct Joining {
    std::int64_t epoch = 0;
    bool is_committed = false;
  };
  /// The transaction that starts this rank now, if there is one.
  using FindJoining = std::function<std::optional<Joining>(const RankId&)>;

  /// \pre all outlive this part
  RankExits(RankTable& ranks, const HeldJobs& jobs, const NodeLinks& links, const Uplink& uplink,
            FindJoining find_joining)
      : ranks_(ranks),
        jobs_(jobs),
        links_(links),
        uplink_(uplink),
        find_joining_(std::move(find_joining)) {}

  /// Removes the rank from the table, and reports its exit unless it was expected.
  /// \return whether the process was a listed rank
  bool OnExited(const KeeperLink::Rank& exited);
  void OnNoted(std::int64_t pid);
  /// Reports the exits that the registrar has not noted.
  void Repeat();

 private:
  struct Where {
    std::int64_t epoch = 0;
    bool is_joiner = false;
  };
  void Report(const RankTable::Rank& rank, const KeeperLink::Rank& exited, Where where);

  RankTable& ranks_;
  const HeldJobs& jobs_;
  const NodeLinks& links_;
  const Uplink& uplink_;
  const FindJoining find_joining_;
  std::map<std::int64_t, wire::RankExited> exits_;  // by pid; not noted by the registrar yet
};

}  // namespace tessera::agents
