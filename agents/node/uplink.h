// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// What the agent of a node sends to the registrar.

#include <string>

#include "agents/node/config.h"
#include "agents/node/node_world.h"
#include "agents/wire/messages_fwd.h"
#include "engine/cluster/snapshot.h"

namespace tessera::agents {

/// \threadsafety The loop's thread.
class Uplink {
 public:
  /// \pre both outlive the uplink
  Uplink(const AgentConfig& config, const NodeWorld& world) : config_(config), world_(world) {}

  /// Adds node and incarnation. The message is lost if there is no connection. The sender repeats
  /// it: state with Register and heartbeats, outcomes on request.
  void Send(wire::FromNode message) const;
  /// `source`: what the event is about, a job or a device.
  void ReportEvent(engine::Severity severity, const std::string& source,
                   const std::string& text) const;
  /// Reports an event about this node.
  void ReportNodeEvent(engine::Severity severity, const std::string& text) const;

 private:
  const AgentConfig& config_;
  const NodeWorld& world_;
};

}  // namespace tessera::agents
