// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The agent's end of the rank protocol: ranks attach to a socket of the node, report, and are told
/// what to do. FORMAT.md has the messages.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "agents/job/rank_protocol.h"
#include "agents/job/rank_view.h"
#include "agents/net/loop.h"
#include "ptc/base/result.h"

namespace tessera::agents {

/// Lives on a loop; every member is called on the loop's thread, or before Loop::Run().
///
/// A restarted agent makes a new port on the same path. Ranks find it within a second, attach again
/// and repeat what still holds: groups that stand for a coming epoch, the last decisions, a pause
/// or an adoption that waits for an answer, rendezvous entries and requests. So handlers see some
/// reports twice, never too few; each is to be taken as "this is so".
///
/// Shared memory of groups is made here: one zeroed memfd for each (job, epoch, attempt, key),
/// sized by the first who asks, forgotten when the attempt is abandoned or a later epoch's go is
/// sent. After a restart the ranks bring back what they hold; until they can have, no new one is
/// made.
class RankPort {
 public:
  struct Handlers {
    /// A rank has connected, the first time or again.
    std::function<void(const RankId&, std::int64_t pid)> attached;
    /// The groups of a coming epoch (or of the one it was started for) stand, or why not.
    std::function<void(const RankId&, std::int64_t epoch, std::int64_t attempt, Status)> connected;
    /// How far a rank is with what it reads before its groups are built. Optional.
    std::function<void(const RankId&, const RankLoading&)> loading;
    /// It waits at the boundary after `step` (-1: newly started), for `reason` where it says one.
    /// See SendCommand.
    std::function<void(const RankId&, std::int64_t step, std::uint64_t request,
                       const std::string& reason)>
        paused;
    /// Every step, in order; after a restart of the agent the last 256 again.
    std::function<void(const RankId&, const RankDecision&)> decided;
    /// Its views are those of `epoch`; it waits for SendGo.
    std::function<void(const RankId&, std::int64_t epoch)> adopted;
    /// Its socket is closed: the process has ended, or was refused for what it sent.
    std::function<void(const RankId&)> gone;
    /// Rendezvous. A set comes again after a restart. A get is answered once, now or later, on the
    /// loop; nullopt: the attempt is abandoned. Answers that nobody waits for are dropped.
    std::function<void(const RankId&, std::int64_t epoch, std::int64_t attempt,
                       const std::string& key, const std::string& value)>
        store_set;
    std::function<void(const RankId&, std::int64_t epoch, std::int64_t attempt,
                       const std::string& key,
                       std::function<void(std::optional<std::string>)> reply)>
        store_get;
    /// A packet that was dropped or a connection that was refused, in one line. Optional.
    std::function<void(const std::string& problem)> problem;
  };

  /// Replaces a socket left at `path` by an agent before this one.
  /// \error kInvalidArgument a path too long for a socket address; kUnavailable.
  static Result<std::unique_ptr<RankPort>> Listen(Loop& loop, const std::string& path,
                                                  Handlers handlers);
  /// Closes all connections; the path stays. Not from inside a handler.
  ~RankPort();
  RankPort(const RankPort&) = delete;
  RankPort& operator=(const RankPort&) = delete;

  /// Build the groups of a coming epoch beside those in use; `connected` reports. Sent again for
  /// groups that stand, it is reported again.
  /// \error kUnavailable not attached.
  Status SendConnect(const RankId& id, const RankView& view);
  /// To all ranks of the job, also those that attach later: drop groups and rendezvous of the
  /// attempt. Its shared memory is forgotten, its pending gets end.
  void Abandon(const std::string& job, std::int64_t epoch, std::int64_t attempt);
  /// Answers the last `paused`. `view` is for kAdopt: the layout in the arena's slot of `epoch`,
  /// which the header must already select.
  /// \error kUnavailable not attached; kFailedPrecondition it does not wait, or kAdopt without
  /// view.
  Status SendCommand(const RankId& id, RankCommand command, std::int64_t epoch,
                     const RankView* view);
  /// All ranks have adopted `epoch`: train on, or, with `stay_paused`, wait at this step boundary
  /// for the next command. \error kUnavailable not attached.
  Status SendGo(const RankId& id, std::int64_t epoch, bool stay_paused = false);
  /// Drops everything kept for a job that is over: shared memory, abandoned attempts.
  void Forget(const std::string& job);

  bool IsAttached(const RankId& id) const;
  /// What an attached rank said last.
  struct State {
    std::int64_t pid = 0;
    std::int64_t epoch = -1;  // whose pieces are current in the process; -1: none yet
    bool waits = false;       // paused, and not yet told what follows
    bool adopted = false;     // waits for SendGo
  };
  std::optional<State> Find(const RankId& id) const;

 private:
  struct Impl;
  explicit RankPort(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace tessera::agents
