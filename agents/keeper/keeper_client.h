// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The agent's end of its keeper: arenas, and ranks as child processes of the keeper.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "agents/net/loop.h"
#include "ptc/base/result.h"

namespace tessera::agents {

/// Lives on a loop; every member is called on the loop's thread, or before Loop::Run(). Handlers
/// run on the loop, never inside a call. Destroying it ends nothing: the ranks live on.
class KeeperClient {
 public:
  struct Arena {
    int index = 0;
    int fd = -1;  // of the memfd; owned by the client
    std::int64_t bytes = 0;
  };
  struct Rank {
    std::int64_t pid = 0;
    std::string tag;  // as given to Spawn
    int device = 0;
    bool exited = false;
    int status = 0;  // as wait(2) gives it, where exited; see DescribeExit in child.h
  };
  struct Handlers {
    /// Once for every rank that ends, after its last line of output; for ranks that had ended
    /// before this agent started and whose exit nobody acknowledged, soon after FromEnvironment.
    std::function<void(const Rank&)> exited;
    /// A line that a rank wrote to stdout or stderr (bounded: see line_splitter.h).
    std::function<void(const Rank&, std::string line)> stderr_line;
  };

  /// Takes the descriptor named by TESSERA_KEEPER_FD (and removes the variable), waits for the
  /// keeper's list of arenas and ranks.
  /// \error kFailedPrecondition not started by a keeper; kTimeout after 5 s; kCancelled.
  static Result<std::unique_ptr<KeeperClient>> FromEnvironment(Loop& loop, Handlers handlers);
  ~KeeperClient();
  KeeperClient(const KeeperClient&) = delete;
  KeeperClient& operator=(const KeeperClient&) = delete;

  /// In order of index.
  const std::vector<Arena>& arenas() const;
  /// Alive, or ended and not acknowledged; in order of pid.
  std::vector<Rank> ranks() const;

  struct SpawnRequest {
    std::vector<std::string> argv;
    std::vector<std::string> environment;  // KEY=VALUE, complete
    int device = 0;
    std::string tag;  // kept by the keeper, for the agent that comes after this one
  };
  /// Starts a process with the device's arena as descriptor TESSERA_ARENA_FD; returns its pid.
  /// \error as StartChild; kInvalidArgument an unknown device, more than kMaxPacketBytes of
  ///     arguments and environment; kTimeout the keeper gave no answer in 5 s; kCancelled it is
  ///     gone.
  Result<std::int64_t> Spawn(const SpawnRequest& request);
  /// To the rank and what it started. \error kNotFound, kFailedPrecondition it has ended.
  Status Signal(std::int64_t pid, int signal);
  /// The keeper forgets the exit. \error kNotFound, kFailedPrecondition it has not ended.
  Status Acknowledge(std::int64_t pid);
  /// Ends the node: ranks are killed, then this agent gets SIGTERM.
  Status Shutdown();
  /// The keeper kills itself with SIGKILL: the node is lost. Returns only where that fails.
  Status Die();

 private:
  struct Impl;
  explicit KeeperClient(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace tessera::agents
