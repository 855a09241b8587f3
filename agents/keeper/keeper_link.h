// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// What an agent needs of the keeper of its node: the memory of the devices, and ranks as processes
/// that outlive the agent. KeeperClient is the connection to a real one.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "ptc/base/result.h"

namespace tessera::agents {

/// The name under which a keeper holds the memory of a device that is not in its arena's file.
inline std::string MemoryName(int index) { return "memory of device " + std::to_string(index); }

/// \threadsafety The loop's thread. Handlers run on the loop, never inside a call.
class KeeperLink {
 public:
  struct Arena {
    int index = 0;
    int fd = -1;  // of the memfd; owned by the link
    std::int64_t bytes = 0;
    bool is_sparse = false;  // as of Arena::CreateSparse
    int memory_fd = -1;      // kept under MemoryName; owned by the link; -1: none is
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
    /// before this agent started, and whose exit is not acknowledged, soon after the start.
    std::function<void(const Rank&)> exited;
    /// A line that a rank wrote to stdout or stderr. line_splitter.h has the limits.
    std::function<void(const Rank&, std::string line)> stderr_line;
  };

  KeeperLink() = default;
  KeeperLink(const KeeperLink&) = delete;
  KeeperLink& operator=(const KeeperLink&) = delete;
  virtual ~KeeperLink() = default;

  /// In order of index.
  virtual const std::vector<Arena>& arenas() const = 0;
  /// Ranks that live or whose exit is not acknowledged, in order of pid.
  virtual std::vector<Rank> ranks() const = 0;

  struct SpawnRequest {
    std::vector<std::string> argv;
    std::vector<std::string> environment;  // KEY=VALUE, complete
    int device = 0;
    std::string tag;  // kept by the keeper, for the next agent
  };
  /// Starts a process with the device's arena as descriptor TESSERA_ARENA_FD; returns its pid.
  /// \error as StartChild; kInvalidArgument for an unknown device or more than kMaxPacketBytes of
  ///     arguments and environment; kTimeout without an answer in 5 s; kCancelled without a keeper
  virtual Result<std::int64_t> Spawn(const SpawnRequest& request) = 0;
  /// Sends a signal to the process group of a rank.
  /// \error kNotFound; kFailedPrecondition if it has ended
  virtual Status Signal(std::int64_t pid, int signal) = 0;
  /// Makes the keeper forget the exit.
  /// \error kNotFound; kFailedPrecondition if it has not ended
  virtual Status Acknowledge(std::int64_t pid) = 0;
  /// Ends the node: the keeper kills the ranks, then sends this agent SIGTERM.
  virtual Status Shutdown() = 0;
  /// The keeper kills itself with SIGKILL, so the node is lost. Returns only on failure.
  virtual Status Die() = 0;
};

}  // namespace tessera::agents
