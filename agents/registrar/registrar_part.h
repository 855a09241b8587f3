// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// What the parts of the registrar have in common: clock, nodes, journal, and what they say.

#include <cstdint>
#include <memory>
#include <string>

#include "agents/net/timers.h"
#include "agents/node/config.h"
#include "agents/registrar/membership.h"
#include "agents/registrar/publisher.h"
#include "agents/registrar/registrar_world.h"

namespace tessera::agents {

/// Base of the parts.
/// \threadsafety The thread of the timers.
class RegistrarPart {
 public:
  using Clock = Timers::Clock;
  /// All of them outlive the parts.
  struct Common {
    Timers& timers;
    const AgentConfig& config;
    const RegistrarWorld& world;
    Membership& members;
    Publisher& publisher;

    /// \error kUnavailable if the node is not connected
    Status Send(std::int32_t node, const wire::ToNode& message) const;
    /// The same for a message that many nodes get.
    Status Send(std::int32_t node, const std::shared_ptr<const wire::ToNode>& message) const;
  };
  RegistrarPart(const RegistrarPart&) = delete;
  RegistrarPart& operator=(const RegistrarPart&) = delete;

 protected:
  explicit RegistrarPart(const Common& common);
  ~RegistrarPart() = default;

  /// As Common::Send.
  Status SendTo(std::int32_t node, const wire::ToNode& message) const;
  Status SendTo(std::int32_t node, const std::shared_ptr<const wire::ToNode>& message) const;
  void AddEvent(engine::Severity severity, const std::string& source,
                const std::string& text) const;
  /// Keeps a row that cannot be read under another key, and adds an event.
  /// \error those of the journal
  Status SetAside(const std::string& key, const std::string& value, const Error& why) const;
  Common common() const { return {timers_, config_, world_, members_, publisher_}; }
  /// The snapshot has changed.
  void MarkDirty() const { publisher_.MarkDirty(); }

  Timers& timers_;
  const AgentConfig& config_;
  const RegistrarWorld& world_;
  engine::DurableStore& journal_;
  Membership& members_;
  Publisher& publisher_;
};

}  // namespace tessera::agents
