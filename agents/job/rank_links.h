// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// What an agent says to the ranks of its node, and hears from them. RankPort does it over a
/// socket.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "agents/job/rank_protocol.h"
#include "agents/job/rank_view.h"
#include "ptc/base/result.h"

namespace tessera::agents {

/// Handlers receive some reports twice, because ranks repeat to a restarted agent what still holds,
/// but miss none. A report describes a state, not a change.
/// \threadsafety The loop's thread. Handlers run on the loop; only `problem` may run inside a call.
class RankLinks {
 public:
  struct Handlers {
    /// Whether this process is the rank that it says it is. If not, it is refused, and the
    /// connection of the rank stays. Optional: without it all are.
    std::function<bool(const RankId&, std::int64_t pid)> expects;
    /// A rank has connected, the first time or again.
    std::function<void(const RankId&, std::int64_t pid)> attached;
    /// The groups of a coming epoch, or of the one the rank was started for, are built, or failed.
    std::function<void(const RankId&, std::int64_t epoch, std::int64_t attempt, Status)> connected;
    /// Answers SendCheck. kFailedPrecondition: the program cannot run on that mesh; other errors:
    /// this is not known, with kUnimplemented because the program checks no meshes. Optional.
    std::function<void(const RankId&, std::uint64_t check, const Status&)> checked;
    /// How much a rank has read of the data that it needs before its groups are built. Optional.
    std::function<void(const RankId&, const RankLoading&)> loading;
    /// The rank waits at the boundary after `step` (-1: newly started). `reason` may be empty.
    /// SendCommand answers.
    std::function<void(const RankId&, std::int64_t step, std::uint64_t request,
                       const std::string& reason)>
        paused;
    /// Every step, in order. A new agent gets the last 4,096 again.
    std::function<void(const RankId&, const RankDecision&)> decided;
    /// The views of the rank are those of `epoch`; it waits for SendGo.
    std::function<void(const RankId&, std::int64_t epoch)> adopted;
    /// The socket of the rank is closed: the process has ended or was refused.
    std::function<void(const RankId&)> gone;
    /// Rendezvous. A set is repeated after a restart. A get is answered once, now or later, on the
    /// loop; nullopt means that the attempt is abandoned. Answers without a waiting rank are
    /// dropped.
    std::function<void(const RankId&, std::int64_t epoch, std::int64_t attempt,
                       const std::string& key, const std::string& value)>
        store_set;
    std::function<void(const RankId&, std::int64_t epoch, std::int64_t attempt,
                       const std::string& key,
                       std::function<void(std::optional<std::string>)> reply)>
        store_get;
    /// Describes a dropped packet or a refused connection in one line. Optional.
    std::function<void(const std::string& problem)> problem;
  };
  /// The last reports of an attached rank.
  struct State {
    std::int64_t pid = 0;
    std::int64_t epoch = -1;  // of the current pieces; -1: none yet
    bool waits = false;       // paused, no command sent yet
    bool adopted = false;     // waits for SendGo
  };

  RankLinks() = default;
  RankLinks(const RankLinks&) = delete;
  RankLinks& operator=(const RankLinks&) = delete;
  virtual ~RankLinks() = default;

  /// Makes a rank build the groups of a coming epoch beside those in use. `connected` reports the
  /// result, also for groups that exist already.
  /// \error kUnavailable if it is not attached
  virtual Status SendConnect(const RankId& id, const RankView& view) = 0;
  /// Requests whether the program can run on a mesh of these sizes (pp, dp, ep, cp, tp), instead of
  /// what was requested of this rank before. A rank of an earlier version does not answer.
  /// \error kUnavailable if it is not attached
  virtual Status SendCheck(const RankId& id, std::uint64_t check, const ptc::MeshShape& mesh) = 0;
  /// Makes all ranks of the job, also those that attach later, drop the groups and rendezvous
  /// entries of the attempt. Forgets its shared memory and ends its pending gets.
  virtual void Abandon(const std::string& job, std::int64_t epoch, std::int64_t attempt) = 0;
  /// Answers the last `paused`. `view` is for kAdopt: the layout in the arena's slot of `epoch`,
  /// which the header must already select.
  /// \error kUnavailable if it is not attached; kFailedPrecondition if it does not wait, or for
  ///     kAdopt without a view
  virtual Status SendCommand(const RankId& id, RankCommand command, std::int64_t epoch,
                             const RankView* view) = 0;
  /// Sends that all ranks have adopted `epoch`. The rank trains on or, with `stay_paused`, waits at
  /// this step boundary for the next command.
  /// \error kUnavailable if it is not attached
  virtual Status SendGo(const RankId& id, std::int64_t epoch, bool stay_paused) = 0;
  /// Drops everything that is kept for a job that has ended: shared memory, abandoned attempts.
  virtual void Forget(const std::string& job) = 0;
  /// nullopt if the rank is not attached.
  virtual std::optional<State> Find(const RankId& id) const = 0;
};

}  // namespace tessera::agents
