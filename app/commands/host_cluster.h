// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// A cluster on machines that ssh reaches: starting an agent on each, and ending them.
///
///     here:   TESSERA_HOME/clusters/NAME/    mode 0700
///               operator.key, allowed/       as for a local cluster; public keys only in allowed
///               hosts.json                   where the agents are; hosts.last.json after `down`
///     there:  FOLDER/NAME/nK/                mode 0700
///               agent.json, agent.key, allowed/, agent.log, and the files of the agent

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "agents/client/cluster.h"
#include "agents/decision/etcd_place.h"
#include "app/commands/ssh.h"
#include "ptc/base/result.h"

namespace tessera::app {

struct HostSpec {
  std::string target;  // for ssh: "b", "lena@b"
  int devices = 0;
  std::string rack = {};  // empty: not known
};
/// "a,lena@b:2/r1": hosts with `devices` each, or as many as they name, and their racks.
/// \error kInvalidArgument naming the entry
Result<std::vector<HostSpec>> parseHosts(const std::string& text, int devices);

/// What has been done on a host, for a line of progress.
struct HostProgress {
  int node = 0;
  std::string host, endpoint;  // endpoint: "10.0.0.5:7400"
  int devices = 0;
};

struct HostClusterOptions {
  std::string name;
  std::vector<HostSpec> hosts;  // the registrar runs on the first one
  Ssh ssh;
  std::string folder = {};  // FOLDER above; empty: TESSERA_HOME/clusters of that host
  int port = 0;             // first port of the agents
  std::int64_t deviceBytes = 0;
  std::int64_t linkBytesPerSecond = 0;  // 0: no limit
  agents::EtcdPlace etcd = {};
  bool plainLanes = false;
  std::function<void(const std::string& what)> working = {};       // what is being done now
  std::function<void(const HostProgress& progress)> started = {};  // an agent has started
};

/// Starts the agents, waits until all nodes are alive, and saves the profile.
/// \error kAlreadyExists if that cluster runs; kUnavailable, kNotFound or kFailedPrecondition naming
///     host and remedy: not reached, no program, another version, a port in use; kCancelled after
///     Ctrl-C. After an error no process is left, here or there.
Result<agents::Profile> startHostCluster(const HostClusterOptions& options);

/// Whether the cluster was started by startHostCluster, and not stopped since.
bool isHostCluster(const std::string& name);

/// Requests a shutdown, ends the processes that remain on each host, and removes the profile.
/// Histories and logs stay on the hosts.
/// \return whether an agent was running
/// \error kUnavailable naming the hosts that are not reached. The others are done; a further call
///     tries these again
Result<bool> stopHostCluster(const std::string& name);

/// Says on which host the history of a stopped cluster is, and which command shows it. nullopt if
/// the last cluster of this name did not run on other hosts, or if they share its folder with this
/// one.
std::optional<std::string> historyOnHost(const std::string& name);

}  // namespace tessera::app
