// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The embedded decision register: write-once rows in the registrar's journal.

#include <string>
#include <utility>

#include "engine/history/durable_store.h"
#include "engine/txn/decision.h"

namespace tessera::agents {

/// Survives kill -9 and a restart of the registrar's agent. While the registrar's node is down, no
/// transaction can be decided, but no decision is lost. Answers inside each call.
/// \threadsafety The journal's thread.
class EmbeddedRegister : public engine::DecisionRegister {
 public:
  /// `journal` must outlive the register. `place`: where it is, for people.
  explicit EmbeddedRegister(engine::DurableStore& journal, std::string place = {})
      : journal_(journal), place_(std::move(place)) {}
  void Write(const std::string& job, std::int64_t slot, const engine::Decision& decision,
             Then<engine::Decision> then) override;
  void Read(const std::string& job, std::int64_t slot,
            Then<std::optional<engine::Decision>> then) override;
  void FindLast(const std::string& job, Then<std::int64_t> then) override;
  void Look(std::function<void(engine::RegisterStatus)> then) override;

 private:
  Result<engine::Decision> WriteNow(const std::string& key, const engine::Decision& decision);
  Result<std::optional<engine::Decision>> ReadNow(const std::string& key);
  Result<std::int64_t> LastNow(const std::string& job);

  engine::DurableStore& journal_;
  const std::string place_;
};

}  // namespace tessera::agents
