// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// A cluster of emulated devices on this machine: its folder TESSERA_HOME/clusters/NAME, its keys,
/// one agent's configuration a node, the daemons, and their end.
///
///     clusters/NAME/           mode 0700
///       agents.key operator.key
///       keepers.json           pid and start time of each node's keeper
///       n0/ n1/ …              agent.json, agent.log, and what the agent keeps

#include <cstdint>
#include <string>
#include <vector>

#include "agents/client/cluster.h"
#include "ptc/base/result.h"

namespace tessera::app {

struct LocalClusterOptions {
  std::string name = "local";
  int nodes = 2;
  int devices = 4;                         // a node
  std::int64_t deviceBytes = 512LL << 20;  // memory of each emulated device
  std::int64_t linkBytesPerSecond = 0;     // 0: as fast as the machine
  bool oneHost = false;                    // all nodes share memory
  std::string home = {};  // TESSERA_HOME of the cluster; empty: this process's. Another one is the
                          // caller's to remove, and no profile is saved then
};

/// Makes folder, keys and configurations, starts the agents, waits until all nodes are alive, and
/// saves the profile. Takes the place of a stopped cluster of the same name.
/// \error kAlreadyExists where that cluster runs; kTimeout or kUnavailable with the last line that
///     an agent wrote. Nothing is left running then.
Result<agents::Profile> startLocalCluster(const LocalClusterOptions& options);

/// Asks the cluster to shut down, then ends what is left of it, and forgets its profile. History
/// and logs stay in the folder. \return whether it was running
/// \error kNotFound naming a cluster that does not exist.
Result<bool> stopLocalCluster(const std::string& name);

/// Ends a cluster that was started with a `home` of its own, at once. Files stay.
void endPrivateCluster(const LocalClusterOptions& options);

/// Whether any keeper of the cluster in `directory` lives.
bool isRunning(const std::string& directory);

/// TESSERA_HOME/clusters/NAME.
std::string localClusterFolder(const std::string& name);
/// Names of all local clusters that have a folder, and of all saved profiles; sorted.
std::vector<std::string> localClusterNames();
std::vector<std::string> profileNames();
/// TESSERA_HOME/profiles/NAME.json.
std::string profilePath(const std::string& name);
/// TESSERA_HOME/clusters/NAME/nK/agent.log under a cluster's `directory`.
std::string agentLog(const std::string& directory, int node);

}  // namespace tessera::app
