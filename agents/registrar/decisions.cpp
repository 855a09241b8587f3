// SPDX-License-Identifier: Apache-2.0
#include "agents/registrar/decisions.h"

#include <fmt/format.h>

namespace tessera::agents {

// The decisions of earlier jobs with this name stay in the register, because nodes that were away
// may still read them. The new job starts after them: a written slot would decide a transaction of
// the new job with the outcome of an old one.
Result<std::int64_t> Decisions::FirstFreeSlot(const std::string& job, std::int64_t first) {
  for (std::int64_t slot = first;; ++slot) {
    TESSERA_TRY(const auto held, register_.Read(job, slot));
    if (!held) return slot;
  }
}

// A participant reads the decision, or gives up and writes `abort`.
void Decisions::OnDecide(std::int32_t node, const wire::Decide& m) {
  // Nobody else decides the transaction that runs.
  if (around_.is_open(m.job(), m.slot()) && !around_.takes_part(node)) return;
  wire::ToNode answer;
  answer.mutable_decided()->set_job(m.job());
  answer.mutable_decided()->set_slot(m.slot());
  if (!m.value().empty()) {
    const auto wanted = engine::ParseDecision(m.value());
    if (wanted && !wanted->commit) {
      const auto held = register_.Write(m.job(), m.slot(), *wanted);
      if (held) answer.mutable_decided()->set_value(ToText(*held));
      if (held && !held->commit) {
        around_.aborted(wanted->transaction, fmt::format("n{} gave up waiting", node));
      }
    }
  } else if (const auto held = DecisionOf(m.job(), m.slot(), m.transaction()); held && *held) {
    answer.mutable_decided()->set_value(ToText(**held));
  }
  static_cast<void>(SendTo(node, answer));
}

Result<std::optional<engine::Decision>> Decisions::DecisionOf(const std::string& job,
                                                              std::int64_t slot,
                                                              std::int64_t transaction) {
  TESSERA_TRY(std::optional<engine::Decision> held, register_.Read(job, slot));
  if (held || around_.is_open(job, slot)) return held;
  TESSERA_TRY(engine::Decision decided, register_.Write(job, slot, engine::AbortOf(transaction)));
  return std::optional<engine::Decision>(std::move(decided));
}

void Decisions::SendPastOutcome(std::int32_t node, const wire::Register& m) {
  const auto held = DecisionOf(m.transaction_job(), m.transaction_slot(), m.transaction());
  if (!held || !*held) return;  // the node asks again
  wire::ToNode outcome;
  outcome.mutable_outcome()->set_transaction(m.transaction());
  outcome.mutable_outcome()->set_value(ToText(**held));
  static_cast<void>(SendTo(node, outcome));
}

}  // namespace tessera::agents
