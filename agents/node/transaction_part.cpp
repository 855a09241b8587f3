// SPDX-License-Identifier: Apache-2.0
#include "agents/node/transaction_part.h"

#include <fmt/format.h>

#include <charconv>
#include <sstream>
#include <utility>
#include <variant>
#include <vector>

#include "engine/history/unreadable_rows.h"
#include "ptc/base/overloaded.h"

namespace tessera::agents {
namespace {

using State = engine::ParticipantState;

constexpr char kPrepareKey[] = "txn/prepare";  // "TRANSACTION " and the message
constexpr char kStateKey[] = "txn/state";      // "TRANSACTION STATE [ROUNDS]"

constexpr char kEndedKey[] = "txn/ended";  // "TRANSACTION", of a move in rounds

Error DamagedRow(const char* key, const std::string& why) {
  return DataLoss(fmt::format("journal row '{}' is damaged: {}", key, why));
}

const std::vector<engine::RowChange> kNoPartRows = {{kPrepareKey, {}}, {kStateKey, {}}};

}  // namespace

TransactionPart::TransactionPart(Terms terms, engine::DurableStore& journal, World world)
    : terms_(std::move(terms)),
      journal_(journal),
      world_(std::move(world)),
      machine_(terms_.rounds) {}

TransactionPart::TransactionPart(Terms terms, State state, engine::DurableStore& journal,
                                 World world, int moved)
    : TransactionPart(std::move(terms), journal, std::move(world)) {
  machine_ = engine::Participant::Recovered(state, terms_.rounds, moved);
}

Result<std::optional<TransactionPart::Kept>> TransactionPart::Load(engine::DurableStore& journal) {
  TESSERA_TRY(std::optional<std::string> prepare, journal.Get(kPrepareKey));
  TESSERA_TRY(const std::optional<std::string> state, journal.Get(kStateKey));
  if (!prepare || !state) return std::optional<Kept>();
  std::istringstream in(*state);
  Kept kept;
  std::uint32_t number = 0;
  if (!(in >> kept.id >> number)) {
    return DamagedRow(kStateKey, fmt::format("'{}' is no transaction with its state", *state));
  }
  const auto parsed = engine::ParseParticipantState(number);
  if (!parsed) return DamagedRow(kStateKey, parsed.error().message);
  kept.state = *parsed;
  if (!(in >> kept.moved)) kept.moved = 0;
  // Bytes follow the space, which the stream must not skip.
  std::int64_t prepared = 0;
  const char* const end = prepare->data() + prepare->size();
  const auto [at, failure] = std::from_chars(prepare->data(), end, prepared);
  if (failure != std::errc() || at == end || *at != ' ') {
    return DamagedRow(kPrepareKey, "it does not begin with a transaction");
  }
  if (prepared != kept.id) return std::optional<Kept>();
  kept.prepare.assign(at + 1, end);
  return std::optional<Kept>(std::move(kept));
}

Status TransactionPart::Clear(engine::DurableStore& journal) { return journal.Write(kNoPartRows); }

std::int64_t TransactionPart::LastEnded(engine::DurableStore& journal) {
  const auto row = journal.Get(kEndedKey);
  if (!row || !*row) return 0;
  return engine::ParseNumberRow(kEndedKey, **row).value_or(0);
}

bool TransactionPart::HasEnded(engine::DurableStore& journal, std::int64_t transaction) {
  const auto row = journal.Get(kEndedKey);
  return row && *row && **row == std::to_string(transaction);
}

void TransactionPart::Feed(engine::ParticipantEvent event) {
  if (forgotten_ || halted_) return;
  events_.push_back(std::move(event));
  if (draining_) return;
  draining_ = true;
  while (!events_.empty() && !forgotten_ && !halted_) {
    const engine::ParticipantEvent next = std::move(events_.front());
    events_.pop_front();
    const State before = machine_.state();
    const auto actions = machine_.On(next);
    if (machine_.state() != before) {
      world_.fault_point("participant." + std::string(ToString(machine_.state())));
    }
    refused_ = false;
    for (const engine::ParticipantAction& action : actions) {
      Perform(action);
      if (refused_) break;
    }
  }
  draining_ = false;
  if (!forgotten_) return;
  const auto forgotten = world_.forgotten;  // a copy: the call may destroy the part
  forgotten(stay_paused_, has_rows_);
}

void TransactionPart::OnPrecopy(const engine::PrecopyRequested& leg,
                                const wire::StepDecision& followed) {
  followed_ = followed;
  Feed(leg);
}

void TransactionPart::OnTransfer(std::int64_t step, const wire::StepDecision& pending, bool anew) {
  if (machine_.state() == State::kPrepared) {
    step_ = step;
    pending_ = pending;
    anew_ = anew;
  }
  Feed(engine::TransferRequested{});
}

void TransactionPart::OnDecision(const engine::Decision& decision, std::optional<int> round,
                                 int settled) {
  const bool commit = decision.commit && decision.transaction == terms_.id;
  if (commit && decision.layout_hash != terms_.layout_hash) {
    return Perform(
        engine::Halt{fmt::format("transaction {} was committed for layout {}, prepared for {}",
                                 terms_.id, decision.layout_hash, terms_.layout_hash)});
  }
  if (commit) step_ = decision.step;
  // That it is decided permits the first round only.
  Feed(engine::OutcomeReceived{commit, round.value_or(terms_.rounds > 0 ? 1 : 0), settled});
}

void TransactionPart::OnGo(bool stay_paused) {
  stay_paused_ = stay_paused;
  Feed(engine::GoReceived{});
}

void TransactionPart::RepeatFollowed() {
  if (!machine_.followed()) return;
  Feed(engine::OutcomeReceived{machine_.state() == State::kCommitted});
}

// A promise that cannot be kept is not made. An outcome needs no promise: it is in the register,
// and following it is idempotent. A round does: it must not be copied again.
bool TransactionPart::JournalState(const engine::JournalState& action) {
  const State state = action.state;
  std::string row = fmt::format("{} {}", terms_.id, static_cast<std::uint32_t>(state));
  if (action.moved > 0) row += fmt::format(" {}", action.moved);
  std::vector<engine::RowChange> rows = {{kStateKey, std::move(row)}};
  if (state == State::kPreparing) {
    rows.push_back({kPrepareKey, std::to_string(terms_.id) + " " + world_.prepare()});
  }
  Status put = journal_.Write(rows);
  if (put) {
    world_.fault_point(action.moved > 0 ? "participant.round.journaled"
                                        : fmt::format("participant.{}.journaled", ToString(state)));
    return true;
  }
  world_.note_error("journal: " + put.error().ToString());
  if (action.moved == 0 && (state == State::kCommitted || state == State::kAborted)) return true;
  events_.push_front(engine::JournalFailed{state, std::move(put)});
  return false;
}

void TransactionPart::Perform(const engine::ParticipantAction& action) {
  std::visit(Overloaded{
                 [&](const engine::CheckAndReserve&) {
                   events_.push_front(engine::LocalChecked{world_.check()});
                 },
                 [&](const engine::ConnectRanks&) { world_.connect(); },
                 [&](const engine::RaiseRequest& a) { world_.raise_request(a); },
                 [&](const engine::RunPrecopy& a) { world_.precopy(a, followed_); },
                 [&](const engine::RunTransfer&) { world_.transfer(step_, pending_, anew_); },
                 [&](const engine::JournalState& a) { refused_ = !JournalState(a); },
                 [&](const engine::RunRound& a) { world_.round(a.round, step_); },
                 [&](const engine::OfferRound& a) { world_.offer_round(a.round, step_); },
                 [&](const engine::Settle& a) { world_.settle(a.rounds, step_); },
                 [&](const engine::Report& a) { world_.report(a); },
                 [&](const engine::FlipAndAdopt&) { world_.flip(step_); },
                 [&](const engine::CleanUp&) { world_.clean_up(); },
                 [&](const engine::ReleaseRanks&) { world_.release(stay_paused_); },
                 [&](const engine::ResumeOld&) { world_.resume_old(stay_paused_); },
                 [&](const engine::ReadRegister& a) { world_.ask(a.write_abort); },
                 [&](const engine::Halt& a) {
                   halted_ = true;
                   world_.halt(a.reason);
                 },
                 [&](const engine::Forget&) {
                   forgotten_ = true;
                   std::vector<engine::RowChange> rows = kNoPartRows;
                   if (terms_.rounds > 0) rows.push_back({kEndedKey, std::to_string(terms_.id)});
                   if (const Status cleared = journal_.Write(rows); !cleared) {
                     has_rows_ = true;
                     world_.note_error("journal: " + cleared.error().ToString());
                   }
                 },
             },
             action);
}

}  // namespace tessera::agents
