// SPDX-License-Identifier: Apache-2.0
#include "agents/node/uplink.h"

#include <fmt/format.h>

#include <utility>

#include "agents/wire/tessera/wire/node.pb.h"
#include "agents/wire/utf8.h"

namespace tessera::agents {

void Uplink::Send(wire::FromNode message) const {
  message.set_node(config_.node);
  message.set_incarnation(world_.facts.incarnation);
  world_.send(message);
}

void Uplink::ReportEvent(engine::Severity severity, const std::string& source,
                         const std::string& text) const {
  // The registrar prints all events; the agents of other nodes print their own.
  if (config_.endpoint != config_.registrar_endpoint) {
    world_.log_line(fmt::format("{} {}: {}", ToString(severity), source, text));
  }
  wire::FromNode message;
  auto* event = message.mutable_event();
  event->set_severity(static_cast<std::uint32_t>(severity));
  event->set_source(source);
  event->set_text(Utf8(text));
  Send(std::move(message));
}

void Uplink::ReportNodeEvent(engine::Severity severity, const std::string& text) const {
  ReportEvent(severity, fmt::format("n{}", config_.node), text);
}

}  // namespace tessera::agents
