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
  /// More than any job has changes. Nodes name slots, and the next one must be a number, too.
  static constexpr std::int64_t kLastSlot = std::int64_t{1} << 53;

  struct World {
    /// The slot of the job's next transaction. nullopt: there is no job with this name.
    std::function<std::optional<std::int64_t>(const std::string& job)> next_slot;
    /// Whether the job table explains what the node says about a job of this name. Else the slots
    /// of its changes may have been lost with the table, or are those of another job, and an empty
    /// slot decides nothing. Absent: always.
    std::function<bool(std::int32_t node, const std::string& job)> is_explained = {};
    /// The transaction that runs and that this slot decides; nullopt if none does.
    std::function<std::optional<std::int64_t>(const std::string& job, std::int64_t slot)> running;
    /// Whether the node takes part in the transaction that runs.
    std::function<bool(std::int32_t node)> takes_part;
    /// Whether the node took part in this transaction of the job, according to the history.
    std::function<bool(std::int32_t node, const std::string& job, std::int64_t transaction)>
        took_part;
    /// Retires the slot, so that no later transaction uses it.
    /// \return false if that cannot be journaled
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

  bool IsExplained(std::int32_t node, const std::string& job) const;
  /// FindOutcome in `slot` and the slots before it.
  void FindOutcomeFrom(std::int64_t slot, const std::string& job, std::int64_t transaction,
                       std::function<void(Result<Held>)> then);
  /// Of a transaction that is over. Without a round: that of a move in rounds has ended, too,
  /// unless its rounds were given up.
  void SendOutcome(std::int32_t node, const std::string& job, std::int64_t transaction,
                   const engine::Decision& held) const;
  /// What a node names.
  struct Asked {
    std::int32_t node;
    std::string job;
    std::int64_t slot, transaction;
  };
  using Settled = std::function<void(const engine::Decision& held)>;
  /// Reads the slot of a transaction that does not run. Writes `abort` to an empty slot: its
  /// coordinator has ended without writing `commit`, and nobody else would decide. `then` is not
  /// called after an error, or if the node may not ask for that.
  void Settle(const Asked& asked, Settled then);
  /// The same for a slot that this registrar has given to no transaction.
  void SettleUnused(const Asked& asked, Settled then);
  void ReadOrAbort(const Asked& asked, Settled then);
  /// Aborts an empty slot if the first decision at or below the slot `before` is of an earlier
  /// transaction.
  void AbortIfLater(const Asked& asked, std::int64_t before, Settled then);
  void Abort(const Asked& asked, Settled then);

  const World around_;
  engine::DecisionRegister& register_;
  std::vector<ReplyPtr> shows_;  // that wait for one look
};

}  // namespace tessera::agents
