// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The JSON file that `up` writes and `tessera-agent --config` reads: endpoints, memory, keys and
/// limits of one node. A restarted agent reads it again and binds the same endpoints.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agents/decision/etcd_place.h"
#include "agents/node/job_limits.h"
#include "ptc/base/result.h"

namespace tessera::agents {

/// The values of AgentConfig::lane_security. Control messages are always encrypted.
inline constexpr std::string_view kCurveLanes = "curve";
inline constexpr std::string_view kPlainLanes = "plain";

inline constexpr std::int64_t kMostSimulatedNodes = 4096;
/// Memory of a GPU for state, at least.
inline constexpr std::int64_t kLeastDeviceBytes = std::int64_t{4} << 20;
inline constexpr double kMostSimulationSpeed = 10'000;

/// A process that plays all nodes of a cluster, each with AgentConfig::devices.
struct SimulationConfig {
  std::int64_t nodes = 2;
  std::string hardware = "h100";
  std::int64_t seed = 1;
  double speed = 1;           // simulated seconds per second
  std::string scenario = {};  // file of what happens; empty: only what clients request
  bool ahead = false;         // as fast as possible up to the first step of a job
  std::int64_t racks = 0;     // of the nodes, in equal shares; 0: as the hardware has them
  friend bool operator==(const SimulationConfig&, const SimulationConfig&) = default;
};

struct AgentConfig {
  std::string cluster;             // "local"
  std::int32_t node = 0;           // n0 is 0
  std::string host;                // nodes with equal hosts share memory
  std::string directory;           // state of this node: journal, logs, sockets; mode 0700
  std::string endpoint;            // ROUTER: tcp://127.0.0.1:40001
  std::string events;              // PUB
  std::vector<std::string> lanes;  // bulk endpoints, one per lane
  std::string registrar_endpoint;  // ROUTER of the registrar; equal to `endpoint` on the registrar
  std::string lane_security = "curve";  // "plain": bulk data is not encrypted; optional in the file
  std::int32_t devices = 4;
  std::int64_t device_bytes = 512LL << 20;
  std::int64_t link_bytes_per_second = 0;  // emulated full-duplex port; 0: none
  std::string agent_keys;                  // key file of this node
  std::string allowed_folder;              // each NAME.pub in it is admitted, with its role
  // The following keys are optional in the file.
  /// The decision register: {"endpoints": ["https://10.0.0.1:2379"], "prefix": "/tessera/lab",
  /// "authorities": FILE, "certificate": FILE, "key": FILE}. No endpoints: it is in the journal of
  /// the registrar.
  EtcdPlace etcd = {};
  JobLimits jobs = {};        // {"exec": false, "data": ["/srv/data"]}
  std::string registrar_key;  // public key of the registrar's agent; empty: this agent's key
  std::string log_file;       // receives stdout and stderr, rotated; empty: as inherited
  std::string rack = {};      // [a-z0-9][a-z0-9-]{0,62}; empty: not known
  /// Limit of the registrar's history. Above it, the oldest rows are thinned, then deleted.
  std::int64_t history_bytes = 256LL << 20;
  std::int64_t history_days = 90;          // older rows of the history are deleted
  std::int64_t view_lease_seconds = 30;    // how long a view lives after its last renewal
  std::int64_t node_lost_seconds = 10;     // a node is lost after this silence, suspect after 3/10
  std::int64_t start_stall_seconds = 120;  // a start fails after this time without progress
  /// A job that has lost devices and asks continues after this time if no step is lost by that.
  std::int64_t decision_seconds = 60;
  /// The numbers of the CUDA devices of this node, one for each of `devices`. Empty: devices are
  /// emulated, in host memory.
  std::vector<std::int32_t> cuda_devices = {};
  /// {"nodes": 512, "hardware": "h100", "seed": 1, "speed": 1, "scenario": FILE, "ahead": true,
  /// "racks": 128}. Present: the cluster is simulated.
  std::optional<SimulationConfig> simulation = {};
};

/// The name of the rack of a node, if `nodes` nodes are in `racks` racks in equal shares: "r0", …
/// Nodes that join later are in further racks.
/// \pre nodes >= racks >= 1
std::string RackOf(std::int64_t node, std::int64_t nodes, std::int64_t racks);

/// \error kNotFound naming the file; kInvalidArgument `FILE:LINE: unknown key 'x'` and the like.
Result<AgentConfig> LoadAgentConfig(const std::string& path);
/// Writes through a temporary file and rename.
Status SaveAgentConfig(const AgentConfig& config, const std::string& path);

}  // namespace tessera::agents
