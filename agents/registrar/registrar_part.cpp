// SPDX-License-Identifier: Apache-2.0
#include "agents/registrar/registrar_part.h"

#include <fmt/format.h>

#include "engine/history/unreadable_rows.h"

namespace tessera::agents {
namespace {

Status NotConnected(std::int32_t node) {
  return Unavailable(fmt::format("n{} is not connected", node));
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
  Membership::Node* const to = members.Find(node);
  if (!to || to->identity.empty()) return NotConnected(node);
  to->last_sent = timers.now();
  return world.send(to->identity, message).Context(fmt::format("n{}", node));
}

Status RegistrarPart::Common::Send(std::int32_t node,
                                   const std::shared_ptr<const wire::ToNode>& message) const {
  if (!world.send_shared) return Send(node, *message);
  Membership::Node* const to = members.Find(node);
  if (!to || to->identity.empty()) return NotConnected(node);
  to->last_sent = timers.now();
  return world.send_shared(to->identity, message).Context(fmt::format("n{}", node));
}

Status RegistrarPart::SendTo(std::int32_t node, const wire::ToNode& message) const {
  return common().Send(node, message);
}

Status RegistrarPart::SendTo(std::int32_t node,
                             const std::shared_ptr<const wire::ToNode>& message) const {
  return common().Send(node, message);
}

Status RegistrarPart::SetAside(const std::string& key, const std::string& value,
                               const Error& why) const {
  TESSERA_TRY(const std::string text, engine::SetAside(journal_, "registrar.db", key, value, why));
  AddEvent(engine::Severity::kError, "registrar", text);
  return OkStatus();
}

void RegistrarPart::AddEvent(engine::Severity severity, const std::string& source,
                             const std::string& text) const {
  publisher_.AddEvent(severity, source, text);
}

}  // namespace tessera::agents
