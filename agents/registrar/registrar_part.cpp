// SPDX-License-Identifier: Apache-2.0
#include "agents/registrar/registrar_part.h"

#include <fmt/format.h>

namespace tessera::agents {
namespace {

Status Send(const Membership& members, const RegistrarWorld& world, std::int32_t node,
            const wire::ToNode& message) {
  const Membership::Node* const to = members.Find(node);
  if (!to || to->identity.empty()) {
    return Unavailable(fmt::format("n{} is not connected", node));
  }
  return world.send(to->identity, message).Context(fmt::format("n{}", node));
}

}  // namespace

RegistrarPart::RegistrarPart(const Common& common)
    : timers_(common.timers),
      config_(common.config),
      world_(common.world),
      journal_(common.world.journal),
      members_(common.members),
      publisher_(common.publisher) {}

Status RegistrarPart::Common::Send(std::int32_t node, const wire::ToNode& message) const {
  return agents::Send(members, world, node, message);
}

Status RegistrarPart::SendTo(std::int32_t node, const wire::ToNode& message) const {
  return Send(members_, world_, node, message);
}

void RegistrarPart::AddEvent(engine::Severity severity, const std::string& source,
                             const std::string& text) const {
  publisher_.AddEvent(severity, source, text);
}

}  // namespace tessera::agents
