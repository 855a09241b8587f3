// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The embedded decision register: write-once rows in the registrar's journal.

#include "engine/history/durable_store.h"
#include "engine/txn/decision.h"

namespace tessera::agents {

/// Survives kill -9 and a restart of the registrar's agent. While the registrar's node is down, no
/// transaction can be decided, but no decision is lost.
/// \threadsafety The journal's thread.
class EmbeddedRegister : public engine::DecisionRegister {
 public:
  /// `journal` must outlive the register.
  explicit EmbeddedRegister(engine::DurableStore& journal) : journal_(journal) {}
  Result<engine::Decision> Write(const std::string& job, std::int64_t slot,
                                 const engine::Decision& decision) override;
  Result<std::optional<engine::Decision>> Read(const std::string& job, std::int64_t slot) override;

 private:
  engine::DurableStore& journal_;
};

}  // namespace tessera::agents
