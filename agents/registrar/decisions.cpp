// SPDX-License-Identifier: Apache-2.0
#include "agents/registrar/decisions.h"

#include <fmt/format.h>

#include <utility>

#include "agents/registrar/job.h"
#include "agents/wire/tessera/wire/control.pb.h"
#include "agents/wire/utf8.h"
#include "engine/txn/coordinator.h"

namespace tessera::agents {
namespace {
// More than any job has changes. Nodes name slots, and the next one must be a number, too.
constexpr std::int64_t kLastSlot = std::int64_t{1} << 53;
}  // namespace

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

// A participant reads the decision, or gives up and writes `abort`. Of a job that has ended no
// later slot is written than the next one: all slots of that name after a written one are taken.
void Decisions::OnDecide(std::int32_t node, const wire::Decide& m) {
  if (!IsJobName(m.job())) return;
  if (around_.is_known(m.job())) return Decide(node, m);
  register_.FindLast(m.job(), [this, node, m](const Result<std::int64_t>& last) {
    if (last && m.slot() <= *last + 1) Decide(node, m);
  });
}

void Decisions::Decide(std::int32_t node, const wire::Decide& m) {
  // Only its participants decide the running transaction. The slot of a later one stays empty.
  if (m.slot() < 1 || m.slot() > kLastSlot) return;
  const bool is_open = around_.is_open(m.job(), m.slot());
  if (is_open ? !around_.takes_part(node) : !around_.retire(m.job(), m.slot())) return;
  const auto answer = [this, node, job = m.job(), slot = m.slot(), transaction = m.transaction(),
                       is_open](const Held& held) {
    // With `Decided` the node would begin the first round of a move in rounds that has ended.
    if (held && !is_open) return SendOutcome(node, job, transaction, *held);
    wire::ToNode out;
    out.mutable_decided()->set_job(job);
    out.mutable_decided()->set_slot(slot);
    if (held) out.mutable_decided()->set_value(ToText(*held));
    static_cast<void>(SendTo(node, out));
  };
  if (m.value().empty()) return Settle(m.job(), m.slot(), m.transaction(), answer);
  const auto wanted = engine::ParseDecision(m.value());
  if (!wanted || wanted->commit) return answer(std::nullopt);
  register_.Write(m.job(), m.slot(), *wanted,
                  [this, answer, node,
                   transaction = wanted->transaction](const Result<engine::Decision>& held) {
                    if (!held) return answer(std::nullopt);
                    answer(*held);
                    if (held->commit) return;
                    around_.aborted(transaction, fmt::format("n{} gave up waiting", node));
                  });
}

void Decisions::Settle(const std::string& job, std::int64_t slot, std::int64_t transaction,
                       std::function<void(const Held& held)> then) {
  if (slot < 1 || slot > kLastSlot) return;
  const bool is_open = around_.is_open(job, slot);
  if (!is_open && !around_.retire(job, slot)) return;
  register_.Read(
      job, slot,
      [this, job, slot, transaction, is_open, then = std::move(then)](const Result<Held>& held) {
        if (!held) return;
        if (*held || is_open) return then(*held);
        register_.Write(job, slot, engine::AbortOf(transaction),
                        [then](const Result<engine::Decision>& decided) {
                          if (decided) then(*decided);
                        });
      });
}

void Decisions::SendPastOutcome(std::int32_t node, const wire::Register& m) {
  const auto tell = [this, node, job = m.transaction_job(),
                     transaction = m.transaction()](const Held& held) {
    if (!held) return;  // the node asks again
    SendOutcome(node, job, transaction, *held);
  };
  Settle(m.transaction_job(), m.transaction_slot(), m.transaction(), tell);
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
  register_.FindLast(job, [this, job, transaction,
                           then = std::move(then)](const Result<std::int64_t>& last) {
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
