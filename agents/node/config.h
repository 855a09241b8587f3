// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The JSON file that `up` writes and `tessera-agent --config` reads: where a node binds, what it
/// owns, whom it trusts. A restarted agent binds the same endpoints again.

#include <cstdint>
#include <string>
#include <vector>

#include "ptc/base/result.h"

namespace tessera::agents {

struct AgentConfig {
  std::string cluster;             // "local"
  std::int32_t node = 0;           // n0 is 0
  std::string host;                // nodes with equal hosts share memory
  std::string directory;           // state of this node: journal, logs, sockets; mode 0700
  std::string endpoint;            // ROUTER: tcp://127.0.0.1:40001
  std::string events;              // PUB
  std::vector<std::string> lanes;  // bulk endpoints, one a lane
  std::string registrar_endpoint;  // ROUTER of the registrar; equal to `endpoint` on the registrar
  std::int32_t devices = 4;
  std::int64_t device_bytes = 512LL << 20;
  std::int64_t link_bytes_per_second = 0;  // emulated full-duplex port; 0: none
  std::string agent_keys;                  // key file of the cluster's agents
  std::vector<std::string> allowed;  // public keys of operators (and of the agents themselves)
  // What follows may be left out of the file.
  std::string registrar_key;   // public key of the registrar's agent; empty: the same as this one's
  std::string allowed_folder;  // every NAME.pub in it is allowed, too; read again when it changes
  std::string log_file;        // where stdout and stderr go, rotated; empty: as inherited
  std::int64_t history_bytes = 256LL << 20;  // of the registrar's history: more is thinned, then
                                             // let go, oldest first
  std::int64_t history_days = 90;            // older rows of it are let go
};

/// \error kNotFound naming the file; kInvalidArgument `FILE:LINE: unknown key 'x'` and the like.
Result<AgentConfig> LoadAgentConfig(const std::string& path);
/// Writes through a temporary file and rename.
Status SaveAgentConfig(const AgentConfig& config, const std::string& path);

}  // namespace tessera::agents
