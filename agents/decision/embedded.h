// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The embedded decision register: rows of the registrar's own journal, written durably once.

#include "engine/history/journal.h"
#include "engine/txn/decision.h"

namespace tessera::agents {

/// Survives kill -9 and restart of the registrar's agent. While its node is down nothing can be
/// decided, and nothing is lost. Lives on the journal's thread.
class EmbeddedRegister : public engine::DecisionRegister {
 public:
  /// `journal` outlives the register.
  explicit EmbeddedRegister(engine::Journal& journal) : journal_(journal) {}
  Result<engine::Decision> Write(const std::string& job, std::int64_t slot,
                                 const engine::Decision& decision) override;
  Result<std::optional<engine::Decision>> Read(const std::string& job, std::int64_t slot) override;

 private:
  engine::Journal& journal_;
};

}  // namespace tessera::agents
