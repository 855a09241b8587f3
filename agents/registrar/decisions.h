// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The decision register, and what nodes may read and write in it.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "agents/decision/embedded.h"
#include "agents/registrar/registrar_part.h"

namespace tessera::agents {

class Decisions : public RegistrarPart {
 public:
  struct World {
    /// Whether a transaction runs that this slot decides.
    std::function<bool(const std::string& job, std::int64_t slot)> is_open;
    /// Whether the node takes part in the transaction that runs.
    std::function<bool(std::int32_t node)> takes_part;
    /// A participant has written `abort`, before the registrar has written anything.
    std::function<void(std::int64_t transaction, const std::string& why)> aborted;
  };
  Decisions(const Common& common, World world)
      : RegistrarPart(common), around_(std::move(world)), register_(journal_) {}

  /// The first empty slot for `job`, from `first` on.
  Result<std::int64_t> FirstFreeSlot(const std::string& job, std::int64_t first);
  /// A participant reads the decision, or gives up and writes `abort`.
  void OnDecide(std::int32_t node, const wire::Decide& message);
  /// Tells the node the outcome of a transaction that does not run any more.
  void SendPastOutcome(std::int32_t node, const wire::Register& message);
  /// For the transaction that runs.
  engine::DecisionRegister& slots() { return register_; }

 private:
  /// The decision in the slot. An empty slot of a transaction that does not run any more gets
  /// `abort`: its coordinator never wrote `commit`, and nobody else would decide.
  /// \error kUnavailable if the register cannot be read
  Result<std::optional<engine::Decision>> DecisionOf(const std::string& job, std::int64_t slot,
                                                     std::int64_t transaction);

  const World around_;
  EmbeddedRegister register_;
};

}  // namespace tessera::agents
