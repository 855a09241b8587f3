// SPDX-License-Identifier: Apache-2.0
#include "agents/registrar/decisions.h"

#include <fmt/format.h>

#include <utility>

#include "agents/registrar/job.h"
#include "agents/wire/tessera/wire/control.pb.h"
#include "agents/wire/utf8.h"
#include "engine/txn/coordinator.h"

namespace tessera::agents {

// The decisions of earlier jobs with this name stay in the register, because nodes that were away
// may still read them. The new job starts after them: a written slot would decide a transaction of
// the new job with the outcome of an old one.
void Decisions::FindFree(const std::string& job, std::function<void(Result<std::int64_t>)> then) {
  register_.FindLast(job, [then = std::move(then)](Result<std::int64_t> last) {
    if (!last) return then(last.error());
    if (*last >= kLastSlot)
      return then(DataLoss(fmt::format("slot {} is no slot of a job", *last)));
    then(*last + 1);
  });
}

// A participant reads the decision, or gives up and writes `abort`. Other nodes can do neither:
// what they name is not trusted.
void Decisions::OnDecide(std::int32_t node, const wire::Decide& m) {
  if (!IsJobName(m.job()) || !IsExplained(node, m.job())) return;
  if (m.slot() < 1 || m.slot() > kLastSlot) return;
  const std::optional<std::int64_t> running = around_.running(m.job(), m.slot());
  if (!running) {
    return Settle({node, m.job(), m.slot(), m.transaction()},
                  [this, node, job = m.job(), transaction = m.transaction()](
                      const engine::Decision& held) { SendOutcome(node, job, transaction, held); });
  }
  if (!around_.takes_part(node)) return;
  const auto answer = [this, node, job = m.job(), slot = m.slot()](const Held& held) {
    wire::ToNode out;
    out.mutable_decided()->set_job(job);
    out.mutable_decided()->set_slot(slot);
    if (held) out.mutable_decided()->set_value(ToText(*held));
    static_cast<void>(SendTo(node, out));
  };
  const auto wanted = engine::ParseDecision(m.value());
  if (!wanted || wanted->commit) {
    return register_.Read(m.job(), m.slot(), [answer](const Result<Held>& held) {
      if (held) answer(*held);
    });
  }
  register_.Write(m.job(), m.slot(), engine::AbortOf(*running),
                  [this, answer, node, id = *running](const Result<engine::Decision>& held) {
                    if (!held) return answer(std::nullopt);
                    answer(*held);
                    if (held->commit) return;
                    around_.aborted(id, fmt::format("n{} gave up waiting", node));
                  });
}

void Decisions::Settle(const Asked& asked, Settled then) {
  if (asked.slot < 1 || asked.slot > kLastSlot || around_.running(asked.job, asked.slot)) return;
  const std::optional<std::int64_t> next = around_.next_slot(asked.job);
  if (next && asked.slot < *next) return ReadOrAbort(asked, std::move(then));
  if (!next || asked.slot == *next) SettleUnused(asked, std::move(then));
}

// A registrar whose disk has lost its last rows does not know a transaction that others have
// prepared. Each transaction settles at most one such slot, and only for nodes that took part, so
// that no node can fill the register: slots and transactions ascend together.
void Decisions::SettleUnused(const Asked& asked, Settled then) {
  const bool took_part = around_.took_part(asked.node, asked.job, asked.transaction);
  register_.FindLast(asked.job, [this, asked, took_part,
                                 then = std::move(then)](const Result<std::int64_t>& last) {
    if (!last) return;
    if (asked.slot <= *last) return ReadOrAbort(asked, then);
    const std::optional<std::int64_t> next = around_.next_slot(asked.job);
    if (!took_part || asked.slot != next.value_or(*last + 1)) return;
    register_.Read(asked.job, *last, [this, asked, then](const Result<Held>& held) {
      if (!held || (*held && (*held)->transaction >= asked.transaction)) return;
      // One may have begun meanwhile.
      if (around_.running(asked.job, asked.slot)) return;
      if (around_.retire(asked.job, asked.slot)) ReadOrAbort(asked, then);
    });
  });
}

void Decisions::ReadOrAbort(const Asked& asked, Settled then) {
  register_.Read(asked.job, asked.slot,
                 [this, asked, then = std::move(then)](const Result<Held>& held) {
                   if (!held) return;
                   if (*held) return then(**held);
                   AbortIfLater(asked, asked.slot - 1, then);
                 });
}

// The node chooses the number. Slots and transactions ascend together, and FindOutcomeFrom ends its
// search at the first number below the one that it looks for. So a number that is not above those of
// earlier slots would hide their decisions. The registrar does not check whether the node took part:
// the history lacks changes without a record, and a participant without an answer would keep its
// ranks paused for ever.
void Decisions::AbortIfLater(const Asked& asked, std::int64_t before, Settled then) {
  if (before < 1) return Abort(asked, std::move(then));
  register_.Read(asked.job, before,
                 [this, asked, before, then = std::move(then)](const Result<Held>& held) {
                   if (!held) return;
                   if (!*held) return AbortIfLater(asked, before - 1, then);
                   if ((*held)->transaction < asked.transaction) Abort(asked, then);
                 });
}

void Decisions::Abort(const Asked& asked, Settled then) {
  register_.Write(asked.job, asked.slot, engine::AbortOf(asked.transaction),
                  [then = std::move(then)](const Result<engine::Decision>& decided) {
                    if (decided) then(*decided);
                  });
}

bool Decisions::IsExplained(std::int32_t node, const std::string& job) const {
  return !around_.is_explained || around_.is_explained(node, job);
}

void Decisions::SendPastOutcome(std::int32_t node, const wire::Register& m) {
  if (!IsJobName(m.transaction_job()) || !IsExplained(node, m.transaction_job())) return;
  Settle({node, m.transaction_job(), m.transaction_slot(), m.transaction()},
         [this, node, job = m.transaction_job(), transaction = m.transaction()](
             const engine::Decision& held) { SendOutcome(node, job, transaction, held); });
}

void Decisions::SendOutcome(std::int32_t node, const std::string& job, std::int64_t transaction,
                            const engine::Decision& held) const {
  wire::ToNode outcome;
  if (const std::optional<int> settled = around_.settled(job, transaction)) {
    outcome.mutable_outcome()->set_round(engine::kGivenUp);
    outcome.mutable_outcome()->set_settled(*settled);
  }
  outcome.mutable_outcome()->set_transaction(transaction);
  outcome.mutable_outcome()->set_value(ToText(held));
  static_cast<void>(SendTo(node, outcome));
}

void Decisions::FindOutcome(const std::string& job, std::int64_t transaction,
                            std::function<void(Result<Held>)> then) {
  register_.FindLast(
      job, [this, job, transaction, then = std::move(then)](const Result<std::int64_t>& last) {
        if (!last) return then(last.error());
        FindOutcomeFrom(*last, job, transaction, then);
      });
}

// Later slots are of later transactions.
void Decisions::FindOutcomeFrom(std::int64_t slot, const std::string& job, std::int64_t transaction,
                                std::function<void(Result<Held>)> then) {
  if (slot < 1) return then(Held());
  register_.Read(job, slot,
                 [this, slot, job, transaction, then = std::move(then)](const Result<Held>& held) {
                   if (!held) return then(held.error());
                   if (*held && (*held)->transaction == transaction) return then(*held);
                   if (*held && (*held)->transaction < transaction) return then(Held());
                   FindOutcomeFrom(slot - 1, job, transaction, then);
                 });
}

void Decisions::OnShow(const ReplyPtr& reply) {
  // Members that are down take their time, and decisions wait for it.
  shows_.push_back(reply);
  if (shows_.size() > 1) return;
  register_.Look([this](const engine::RegisterStatus& status) {
    wire::Reply out;
    wire::RegistrarReply& shown = *out.mutable_registrar();
    shown.set_node(config_.node);
    shown.set_endpoint(config_.endpoint);
    shown.set_events(config_.events);
    shown.set_store(status.store);
    shown.set_problem(Utf8(status.problem));
    shown.set_generation(world_.generation);
    shown.set_prefix(config_.etcd.prefix);
    for (const engine::RegisterMember& member : status.members) {
      wire::RegisterMember& row = *shown.add_members();
      row.set_place(Utf8(member.place));
      row.set_version(Utf8(member.version));
      row.set_leads(member.leads);
      row.set_seconds(member.seconds);
      row.set_problem(Utf8(member.problem));
    }
    for (const ReplyPtr& asked : std::exchange(shows_, {})) asked->Done(wire::Reply(out));
  });
}

}  // namespace tessera::agents
