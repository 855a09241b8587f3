// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The agent's end of the rank protocol: ranks attach to a socket of the node, send reports and
/// receive commands. FORMAT.md has the messages.

#include <chrono>
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

/// Belongs to a loop: every member is called on the loop's thread, or before Loop::Run().
///
/// A restarted agent makes a new port on the same path. Ranks find it within a second, attach again
/// and repeat what still holds: groups of a coming epoch, the last decisions, a pause or an
/// adoption that waits for an answer, rendezvous entries and requests. So handlers receive some
/// reports twice but miss none. A report describes a state, not a change.
///
/// The port makes the shared memory of groups: one zeroed memfd for each (job, epoch, attempt,
/// key), with the size of the first request. It forgets the memory when the attempt is abandoned or
/// the go of a later epoch is sent. After a restart the ranks bring back what they hold; until they
/// have had time to do so, no new memory is made.
class RankPort {
 public:
  struct Handlers {
    /// Whether this process is the rank that it says it is. If not, it is refused, and the
    /// connection of the rank stays. Optional: without it all are.
    std::function<bool(const RankId&, std::int64_t pid)> expects;
    /// A rank has connected, the first time or again.
    std::function<void(const RankId&, std::int64_t pid)> attached;
    /// The groups of a coming epoch, or of the one the rank was started for, are built, or failed.
    std::function<void(const RankId&, std::int64_t epoch, std::int64_t attempt, Status)> connected;
    /// How much a rank has read of the data that it needs before its groups are built. Optional.
    std::function<void(const RankId&, const RankLoading&)> loading;
    /// The rank waits at the boundary after `step` (-1: newly started). `reason` may be empty.
    /// SendCommand answers.
    std::function<void(const RankId&, std::int64_t step, std::uint64_t request,
                       const std::string& reason)>
        paused;
    /// Every step, in order. A new agent gets the last 256 again.
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

  /// Longer than ranks need to find a new port: their back-off ends at 1 s.
  static constexpr std::chrono::milliseconds kGrace{1500};
  /// Listens at `path`, where it replaces the socket of an earlier agent. For `grace` after that,
  /// requests for shared memory wait, because a rank that is not back yet may have it.
  /// \error kInvalidArgument for a path that is too long for a socket address; kUnavailable
  static Result<std::unique_ptr<RankPort>> Listen(Loop& loop, const std::string& path,
                                                  Handlers handlers,
                                                  std::chrono::milliseconds grace = kGrace);
  /// Closes all connections; the path stays.
  /// \pre not inside a handler
  ~RankPort();
  RankPort(const RankPort&) = delete;
  RankPort& operator=(const RankPort&) = delete;

  /// Makes a rank build the groups of a coming epoch beside those in use. `connected` reports the
  /// result, also for groups that exist already.
  /// \error kUnavailable if it is not attached
  Status SendConnect(const RankId& id, const RankView& view);
  /// Makes all ranks of the job, also those that attach later, drop the groups and rendezvous
  /// entries of the attempt. Forgets its shared memory and ends its pending gets.
  void Abandon(const std::string& job, std::int64_t epoch, std::int64_t attempt);
  /// Answers the last `paused`. `view` is for kAdopt: the layout in the arena's slot of `epoch`,
  /// which the header must already select.
  /// \error kUnavailable if it is not attached; kFailedPrecondition if it does not wait, or for
  ///     kAdopt without a view
  Status SendCommand(const RankId& id, RankCommand command, std::int64_t epoch,
                     const RankView* view);
  /// Sends that all ranks have adopted `epoch`. The rank trains on or, with `stay_paused`, waits at
  /// this step boundary for the next command.
  /// \error kUnavailable if it is not attached
  Status SendGo(const RankId& id, std::int64_t epoch, bool stay_paused = false);
  /// Drops everything that is kept for a job that has ended: shared memory, abandoned attempts.
  void Forget(const std::string& job);

  bool IsAttached(const RankId& id) const;
  /// The last reports of an attached rank.
  struct State {
    std::int64_t pid = 0;
    std::int64_t epoch = -1;  // of the current pieces; -1: none yet
    bool waits = false;       // paused, no command sent yet
    bool adopted = false;     // waits for SendGo
  };
  std::optional<State> Find(const RankId& id) const;

 private:
  struct Impl;
  explicit RankPort(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace tessera::agents
