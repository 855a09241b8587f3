// SPDX-License-Identifier: Apache-2.0
#include "agents/decision/embedded.h"

#include <fmt/format.h>

namespace tessera::agents {
namespace {
std::string Key(const std::string& job, std::int64_t slot) {
  return fmt::format("decision/{}/{}", job, slot);
}
}  // namespace

Result<engine::Decision> EmbeddedRegister::Write(const std::string& job, std::int64_t slot,
                                                 const engine::Decision& decision) {
  TESSERA_TRY(const std::string held, journal_.PutIfAbsent(Key(job, slot), ToText(decision)));
  return engine::ParseDecision(held);
}

Result<std::optional<engine::Decision>> EmbeddedRegister::Read(const std::string& job,
                                                               std::int64_t slot) {
  TESSERA_TRY(const std::optional<std::string> held, journal_.Get(Key(job, slot)));
  if (!held) return std::optional<engine::Decision>();
  TESSERA_TRY(const engine::Decision decision, engine::ParseDecision(*held));
  return std::optional<engine::Decision>(decision);
}

}  // namespace tessera::agents
