// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The agent's connection to its keeper: the arenas, and ranks as child processes of the keeper.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "agents/keeper/packet.h"
#include "agents/net/loop.h"
#include "ptc/base/result.h"

namespace tessera::agents {

/// Belongs to a loop: every member is called on the loop's thread, or before Loop::Run(). Handlers
/// run on the loop, never inside a call. The destructor ends no rank.
class KeeperClient {
 public:
  struct Arena {
    int index = 0;
    int fd = -1;  // of the memfd; owned by the client
    std::int64_t bytes = 0;
  };
  struct Rank {
    std::int64_t pid = 0;
    std::string tag;  // from SpawnRequest
    int device = 0;
    bool exited = false;
    int status = 0;  // from wait(2), if exited; see DescribeExit in child.h
  };
  struct Handlers {
    /// Called once for every rank that ends, after its last line of output. For a rank that ended
    /// before this agent started, and whose exit is not acknowledged, soon after FromEnvironment.
    std::function<void(const Rank&)> exited;
    /// A line that a rank wrote to stdout or stderr. line_splitter.h has the limits.
    std::function<void(const Rank&, std::string line)> stderr_line;
  };

  /// Takes the descriptor that TESSERA_KEEPER_FD names, removes the variable, and waits for the
  /// keeper's list of arenas and ranks.
  /// \error kFailedPrecondition without a keeper; kTimeout after 5 s; kCancelled if it is gone
  static Result<std::unique_ptr<KeeperClient>> FromEnvironment(Loop& loop, Handlers handlers);
  ~KeeperClient();
  KeeperClient(const KeeperClient&) = delete;
  KeeperClient& operator=(const KeeperClient&) = delete;

  /// In order of index.
  const std::vector<Arena>& arenas() const;
  /// Ranks that live or whose exit is not acknowledged, in order of pid.
  std::vector<Rank> ranks() const;

  struct SpawnRequest {
    std::vector<std::string> argv;
    std::vector<std::string> environment;  // KEY=VALUE, complete
    int device = 0;
    std::string tag;  // kept by the keeper, for the next agent
  };
  /// Starts a process with the device's arena as descriptor TESSERA_ARENA_FD; returns its pid.
  /// \error as StartChild; kInvalidArgument for an unknown device or more than kMaxPacketBytes of
  ///     arguments and environment; kTimeout without an answer in 5 s; kCancelled without a keeper
  Result<std::int64_t> Spawn(const SpawnRequest& request);
  /// Sends a signal to the process group of a rank.
  /// \error kNotFound; kFailedPrecondition if it has ended
  Status Signal(std::int64_t pid, int signal);
  /// Makes the keeper forget the exit.
  /// \error kNotFound; kFailedPrecondition if it has not ended
  Status Acknowledge(std::int64_t pid);
  /// Makes the keeper hold a duplicate of `fd` for later agents of this node. A descriptor that it
  /// holds under the same name is closed.
  /// \error kResourceExhausted if it holds 256; kInvalidArgument for a name that is empty or longer
  ///     than 256 bytes
  Status Keep(const std::string& name, int fd);
  /// Closes what the keeper holds under this name.
  /// \error kNotFound
  Status Drop(const std::string& name);
  /// The descriptors that earlier agents gave to the keeper, by name. Empty after the first call.
  std::map<std::string, UniqueFd> TakeKept();
  /// Ends the node: the keeper kills the ranks, then sends this agent SIGTERM.
  Status Shutdown();
  /// The keeper kills itself with SIGKILL, so the node is lost. Returns only on failure.
  Status Die();

 private:
  struct Impl;
  explicit KeeperClient(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace tessera::agents
