// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// A cluster of emulated devices on this machine: its folder TESSERA_HOME/clusters/NAME, its keys,
/// the configuration of each node's agent, starting and stopping the daemons.
///
///     clusters/NAME/           mode 0700
///       operator.key           the key of the profile
///       allowed/               NAME.pub with its role: operator, n0, n1, …
///       keepers.json           pid and start time of each node's keeper
///       n0/ n1/ …              agent.json, agent.key, agent.log, and the files of the agent

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "agents/client/cluster.h"
#include "agents/decision/etcd_place.h"
#include "ptc/base/result.h"

namespace tessera::app {

class ProgressLine;

/// Called while nodes allocate their memory.
using MemoryProgress = std::function<void(std::int64_t madeBytes, std::int64_t totalBytes)>;
/// "making memory: 1.0 GiB of 4.0 GiB". `line` must outlive the result.
MemoryProgress showMemory(ProgressLine& line);

/// A simulated cluster: one process plays all nodes.
struct SimulationOptions {
  std::string hardware = "h100";
  std::int64_t seed = 1;
  double speed = 1;           // simulated seconds per second
  std::string scenario = {};  // absolute path of a scenario; empty: none
  bool ahead = false;         // as fast as possible up to the first step of a job
};

struct LocalClusterOptions {
  std::string name = "local";
  int nodes = 2;
  int devices = 4;                         // per node
  std::int64_t deviceBytes = 512LL << 20;  // memory of each emulated device
  /// Numbers of CUDA devices, by node. Empty: all are emulated in host memory.
  std::vector<std::vector<std::int32_t>> cudaDevices = {};
  std::string gpuName = {};             // of the CUDA devices
  int gpusOfDevice = 1;                 // GPUs of the cluster that share a CUDA device
  std::int64_t linkBytesPerSecond = 0;  // 0: no limit
  bool oneHost = false;                 // all nodes share memory
  agents::EtcdPlace etcd = {};          // with endpoints: transactions are decided there; an
                                        // empty prefix is replaced by a unique one
  bool plainLanes = false;              // bulk data between nodes is not encrypted
  std::optional<SimulationOptions> simulation = {};  // without: the nodes are real
  /// Nodes are in this many racks, in equal shares. 0: in none, and simulated ones as their
  /// hardware has them.
  int racks = 0;
  std::string home = {};  // TESSERA_HOME of the cluster; empty: this process's. The caller removes
                          // a folder given here; no profile is saved for it
  MemoryProgress progress = {};
};

/// Makes folder, keys and configurations, starts the agents, waits until all nodes are alive, and
/// saves the profile. Replaces a stopped cluster of the same name, and continues its history
/// (clearClusterFolder).
/// \error kAlreadyExists if that cluster runs; as ClusterLock and clearClusterFolder; kTimeout or kUnavailable with the last line of an
///     agent's log. After an error no process is left.
Result<agents::Profile> startLocalCluster(const LocalClusterOptions& options);

/// Starts a node whose keeper has ended again, with empty devices, and waits until it is alive.
/// \error kFailedPrecondition if the node runs; kNotFound naming the node that the cluster does not
///     have; kTimeout or kUnavailable as startLocalCluster
Status startLocalNode(const agents::Profile& profile, int node, const MemoryProgress& progress);

/// Requests a shutdown, ends the processes that remain, and removes the profile. History and logs
/// stay in the folder.
/// \return whether the cluster was running
/// \error kNotFound naming the cluster; as ClusterLock
Result<bool> stopLocalCluster(const std::string& name);

/// With what the stopped cluster of this machine was started, as its folder tells.
/// \error kNotFound if there is no such folder, or if it is that of a cluster on other machines;
///     those of its configuration
Result<LocalClusterOptions> stoppedClusterOptions(const std::string& name);

/// Ends a cluster with a `home` of its own at once. Its files stay.
void endPrivateCluster(const LocalClusterOptions& options);

/// Names the hosts of a cluster on other machines (host_cluster.h), until it is stopped.
inline constexpr const char* kHostsFile = "hosts.json";
/// The same once it is stopped.
inline constexpr const char* kStoppedHostsFile = "hosts.last.json";
/// Whether any keeper of the cluster in `directory` lives, or may live on its hosts.
bool isRunning(const std::string& directory);

/// Whether one process simulates all nodes of the cluster in `directory`.
bool isSimulated(const std::string& directory);

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
