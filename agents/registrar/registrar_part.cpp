// SPDX-License-Identifier: Apache-2.0
#include "agents/registrar/registrar_part.h"

#include <fmt/format.h>

namespace tessera::agents {

RegistrarPart::RegistrarPart(const Common& common)
    : timers_(common.timers),
      config_(common.config),
      world_(common.world),
      journal_(common.world.journal),
      members_(common.members),
      publisher_(common.publisher) {}

Status RegistrarPart::Common::Send(std::int32_t node, const wire::ToNode& message) const {
  const Membership::Node* to = members.Find(node);
  if (!to || to->identity.empty()) {
    return Unavailable(fmt::format("n{} is not connected", node));
  }
  return world.send(to->identity, message).Context(fmt::format("n{}", node));
}

Status RegistrarPart::SendTo(std::int32_t node, const wire::ToNode& message) const {
  return Common{timers_, config_, world_, members_, publisher_}.Send(node, message);
}

void RegistrarPart::AddEvent(engine::Severity severity, const std::string& source,
                             const std::string& text) const {
  publisher_.AddEvent(severity, source, text);
}

}  // namespace tessera::agents
