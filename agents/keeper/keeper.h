// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The keeper: the process that owns a node's arenas and is the parent of its agent and ranks. It
/// has one thread and no network. Killing it is losing the node.

#include <cstdint>
#include <string>
#include <vector>

namespace tessera::agents {

/// Environment variable of the agent: number of its end of the socket pair.
inline constexpr const char* kKeeperFdVariable = "TESSERA_KEEPER_FD";
/// Environment variable of a rank: number of its arena's memfd.
inline constexpr const char* kArenaFdVariable = "TESSERA_ARENA_FD";

struct KeeperOptions {
  std::int32_t node = 0;
  int devices = 1;
  std::int64_t device_bytes = 0;        // capacity of each arena
  std::vector<std::string> agent_argv;  // the agent, with the keeper's environment
  std::string directory;    // keeper.lock here names the keeper of this node; empty: no lock
  std::string name_prefix;  // of the arenas' names in /proc: "<prefix>n0g1"
};

/// Makes the arenas, starts the agent and keeps it running (restarts back off from 0.1 s to 5 s;
/// an agent that lived for 10 s starts over at 0.1 s), starts, signals and reaps ranks for it, and
/// remembers their exits until they are acknowledged. Returns when the node is over: 0 after
/// SIGTERM, SIGINT or the agent's request, all descendants reaped; 1 where it could not begin
/// (said on stderr). Ranks survive the agent. Nothing survives the keeper.
/// \pre the calling thread is the only one of the process and stays the caller of nothing else:
///     signals are blocked, descriptors above 2 become close-on-exec, the process becomes subreaper
int RunKeeper(const KeeperOptions& options);

}  // namespace tessera::agents
