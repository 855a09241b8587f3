// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The agent's end of the rank protocol: ranks attach to a socket of the node, send reports and
/// receive commands. FORMAT.md has the messages.

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "agents/job/rank_links.h"
#include "agents/net/loop.h"
#include "ptc/base/result.h"

namespace tessera::agents {

/// Belongs to a loop: every member is called on the loop's thread, or before Loop::Run().
///
/// A restarted agent makes a new port on the same path. Ranks find it within a second, attach again
/// and repeat what still holds: groups of a coming epoch, the last decisions, a pause or an
/// adoption that waits for an answer, rendezvous entries and requests.
///
/// The port makes the shared memory of groups: one zeroed memfd for each (job, epoch, attempt,
/// key), with the size of the first request. It forgets the memory when the attempt is abandoned or
/// the go of a later epoch is sent. After a restart the ranks bring back what they hold; until they
/// have had time to do so, no new memory is made.
class RankPort : public RankLinks {
 public:
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
  ~RankPort() override;

  Status SendConnect(const RankId& id, const RankView& view) override;
  Status SendCheck(const RankId& id, std::uint64_t check, const ptc::MeshShape& mesh) override;
  void Abandon(const std::string& job, std::int64_t epoch, std::int64_t attempt) override;
  Status SendCommand(const RankId& id, RankCommand command, std::int64_t epoch,
                     const RankView* view) override;
  Status SendGo(const RankId& id, std::int64_t epoch, bool stay_paused) override;
  void Forget(const std::string& job) override;
  std::optional<State> Find(const RankId& id) const override;
  bool IsAttached(const RankId& id) const;

 private:
  struct Impl;
  explicit RankPort(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace tessera::agents
