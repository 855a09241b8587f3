// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The keeper: the process that owns a node's arenas and is the parent of its agent and ranks. It
/// has one thread and no network. If it is killed, the node is lost.

#include <cstdint>
#include <string>
#include <vector>

#include "engine/copy/device_memory.h"

namespace tessera::agents {

/// Environment variable of the agent: the descriptor of its end of the socket pair.
inline constexpr const char* kKeeperFdVariable = "TESSERA_KEEPER_FD";
/// Environment variable of a rank: the descriptor of its arena's memfd.
inline constexpr const char* kArenaFdVariable = "TESSERA_ARENA_FD";
/// The same of a rank whose arena has memory elsewhere: the descriptor of that memory.
inline constexpr const char* kMemoryFdVariable = "TESSERA_MEMORY_FD";

struct KeeperOptions {
  std::int32_t node = 0;
  int devices = 1;
  std::int64_t device_bytes = 0;  // capacity of each arena
  /// Where the pieces lie. Memory of devices is made by the agent, which gives the keeper its
  /// descriptor under the name MemoryName (keeper_link.h).
  engine::MemoryKind memory_kind = engine::MemoryKind::kHost;
  std::vector<std::string> agent_argv;  // the agent, with the keeper's environment
  std::string directory;    // of keeper.lock and keeper.memory; empty: neither is written
  std::string name_prefix;  // of the arenas' names in /proc: "PREFIXn0g1"
};

/// Makes the arenas, starts the agent and restarts it whenever it ends (back-off from 0.1 s to 5 s;
/// an agent that lived for 3 s resets it). Starts, signals and reaps ranks for the agent, and
/// keeps their exits until they are acknowledged. Ranks survive the agent. Nothing survives the
/// keeper.
/// \return 0 after SIGTERM, SIGINT or the agent's request, with all descendants reaped; 1 if the
///     node could not begin, with the reason on stderr
/// \pre the process has one thread, and does nothing else afterwards: signals are blocked,
///     descriptors above 2 become close-on-exec, the process becomes subreaper
int RunKeeper(const KeeperOptions& options);

}  // namespace tessera::agents
