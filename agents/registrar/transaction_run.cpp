// SPDX-License-Identifier: Apache-2.0
#include "agents/registrar/transaction_run.h"

#include <fmt/format.h>

#include <utility>
#include <variant>

#include "ptc/base/overloaded.h"

namespace tessera::agents {
namespace {
constexpr auto kRetry = std::chrono::milliseconds(1000);
}  // namespace

TransactionRun::TransactionRun(Terms terms, engine::Coordinator machine,
                               engine::DecisionRegister& decisions, World world)
    : terms_(std::move(terms)),
      machine_(std::move(machine)),
      decisions_(decisions),
      world_(std::move(world)) {}

void TransactionRun::Feed(engine::CoordinatorEvent event) {
  if (finish_) return;
  events_.push_back(std::move(event));
  Drain();
}

void TransactionRun::Recover() { Write(false); }

void TransactionRun::Drain() {
  if (draining_) return;
  draining_ = true;
  while (!events_.empty() && !finish_) {
    const engine::CoordinatorEvent event = std::move(events_.front());
    events_.pop_front();
    const engine::TxnPhase before = machine_.phase();
    const auto actions = machine_.On(event);
    if (machine_.phase() != before) world_.phase_changed(before);
    for (const engine::CoordinatorAction& action : actions) Perform(action);
  }
  draining_ = false;
  if (!finish_) return;
  // Copies, because the run may be destroyed in the call.
  const auto finished = world_.finished;
  const engine::Finish finish = *finish_;
  finished(finish.committed, finish.reason);
}

void TransactionRun::Perform(const engine::CoordinatorAction& action) {
  std::visit(Overloaded{
                 [&](const engine::CompareDigests&) { events_.push_back(world_.compare()); },
                 [&](const engine::WriteRegister& a) { Write(a.commit); },
                 [&](const engine::Finish& a) { finish_ = a; },
                 [&](const auto&) { Send(action); },
             },
             action);
}

void TransactionRun::Send(const engine::CoordinatorAction& action) {
  const Status sent = world_.send(action);
  if (sent) return;
  // Other requests are sent again when the node registers; a node that stays away is lost.
  if (const auto* prepare = std::get_if<engine::SendPrepare>(&action)) {
    events_.push_back(engine::NodeRefused{prepare->node, sent.error().ToString()});
  }
}

// The outcome is what the register holds, which may differ from `commit`. A decision of another
// transaction in the slot means that this one can no longer be committed.
void TransactionRun::Write(bool commit) {
  engine::Decision decision;
  decision.commit = commit;
  decision.transaction = terms_.id;
  if (commit) {
    decision.epoch = terms_.epoch;
    decision.layout_hash = terms_.layout_hash;
    decision.step = terms_.step_after.value_or(machine_.step().value_or(0));
  }
  decisions_.Write(
      terms_.job, terms_.slot, decision,
      [this, commit, alive = std::weak_ptr(alive_)](const Result<engine::Decision>& held) {
        if (alive.expired()) return;
        OnWritten(commit, held);
        Drain();  // may destroy the run
      });
}

void TransactionRun::OnWritten(bool commit, const Result<engine::Decision>& held) {
  if (!held) {
    if (!std::exchange(was_out_of_reach_, true)) {
      world_.note(engine::Severity::kError,
                  fmt::format("the decision register cannot be written: {}; this is tried again "
                              "every second, and ranks wait",
                              held.error().ToString()));
    }
    world_.after(kRetry, [this, commit, alive = std::weak_ptr(alive_)] {
      if (!alive.expired()) Write(commit);
    });
    return;
  }
  if (std::exchange(was_out_of_reach_, false)) {
    world_.note(engine::Severity::kInfo, "the decision register answers again");
  }
  decision_ = *held;
  const bool ours =
      held->transaction == terms_.id && (!held->commit || held->layout_hash == terms_.layout_hash);
  if (!ours) {
    world_.note(
        engine::Severity::kError,
        fmt::format("slot {} of '{}' holds '{}', not a decision of this transaction: rolling back",
                    terms_.slot, terms_.job, ToText(*held)));
    decision_ = engine::AbortOf(terms_.id);
  }
  world_.adopt(*decision_);
  events_.push_back(engine::RegisterAnswered{decision_->commit});
}

}  // namespace tessera::agents
