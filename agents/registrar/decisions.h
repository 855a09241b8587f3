// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The decision register, and what nodes may read and write in it.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "agents/registrar/pending_reply.h"
#include "agents/registrar/registrar_part.h"
#include "engine/txn/decision.h"

namespace tessera::agents {

class Decisions : public RegistrarPart {
 public:
  struct World {
    /// Whether there is a job with this name.
    std::function<bool(const std::string& job)> is_known;
    /// Whether a transaction runs that this slot decides.
    std::function<bool(const std::string& job, std::int64_t slot)> is_open;
    /// Whether the node takes part in the transaction that runs.
    std::function<bool(std::int32_t node)> takes_part;
    /// No transaction that begins later gets this slot. False: none has reached it yet.
    std::function<bool(const std::string& job, std::int64_t slot)> retire;
    /// How many rounds count of a transaction whose rounds were given up; nullopt for any other.
    std::function<std::optional<int>(const std::string& job, std::int64_t transaction)> settled;
    /// A participant has written `abort`, before the registrar has written anything.
    std::function<void(std::int64_t transaction, const std::string& why)> aborted;
  };
  Decisions(const Common& common, World world)
      : RegistrarPart(common), around_(std::move(world)), register_(world_.decisions) {}

  /// The first slot for a new job with this name, after those of earlier jobs.
  void FindFree(const std::string& job, std::function<void(Result<std::int64_t>)> then);
  /// A participant reads the decision, or gives up and writes `abort`.
  void OnDecide(std::int32_t node, const wire::Decide& message);
  /// Tells the node the outcome of a transaction that does not run any more.
  void SendPastOutcome(std::int32_t node, const wire::Register& message);
  /// Where the registrar and the register are, and whether it can be written.
  void OnShow(const ReplyPtr& reply);
  /// Reads what the register holds about a transaction that no longer runs. nullopt: nothing, so it
  /// has not committed.
  /// \error of the register
  void FindOutcome(const std::string& job, std::int64_t transaction,
                   std::function<void(Result<std::optional<engine::Decision>>)> then);
  /// For the transaction that runs.
  engine::DecisionRegister& decision_register() { return register_; }

 private:
  using Held = std::optional<engine::Decision>;

  void Decide(std::int32_t node, const wire::Decide& message);
  /// FindOutcome in `slot` and the slots before it.
  void FindOutcomeFrom(std::int64_t slot, const std::string& job, std::int64_t transaction,
                       std::function<void(Result<Held>)> then);
  /// Of a transaction that is over. Without a round: that of a move in rounds has ended, too,
  /// unless its rounds were given up.
  void SendOutcome(std::int32_t node, const std::string& job, std::int64_t transaction,
                   const engine::Decision& held) const;
  /// Reads the slot. An empty slot of the running transaction is nullopt. To any other empty slot
  /// `abort` is written: its coordinator has ended without writing `commit`, and nobody else would
  /// decide. After an error `then` is not called, and the node asks again.
  void Settle(const std::string& job, std::int64_t slot, std::int64_t transaction,
              std::function<void(const Held& held)> then);

  const World around_;
  engine::DecisionRegister& register_;
  std::vector<ReplyPtr> shows_;  // that wait for one look
};

}  // namespace tessera::agents
