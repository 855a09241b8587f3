// SPDX-License-Identifier: Apache-2.0
#include "agents/registrar/transaction.h"

#include <fmt/format.h>

#include <chrono>

#include "engine/model/gpt.h"
#include "ptc/base/counted.h"

namespace tessera::agents {

std::string CostOf(const Recovery& recovery) {
  if (!recovery.steps_lost) return "no step lost: " + recovery.reason;
  return fmt::format("back to the {} of step {}, {} lost: {}",
                     recovery.checkpoint ? "checkpoint" : "snapshot", recovery.step,
                     Counted(*recovery.steps_lost, "step"), recovery.reason);
}

engine::TxnStatus StatusOf(const Txn& txn, Timers::Clock::time_point now) {
  engine::TxnStatus out;
  out.id = txn.id;
  out.job = txn.job;
  out.phase = txn.run->phase();
  out.from_mesh = txn.planned.summary.from_mesh;
  out.to_mesh = txn.planned.summary.to_mesh;
  out.from_devices = txn.planned.summary.from_devices;
  out.to_devices = txn.planned.summary.to_devices;
  out.from_options = txn.planned.summary.from_options;
  out.to_options = txn.planned.summary.to_options;
  out.bytes_total = txn.planned.plan.bytes.moved();
  out.bytes_done = txn.count.bytes();
  const bool precopies = out.phase == engine::TxnPhase::kPrecopying;
  const bool copies = precopies && txn.run->machine().is_copying();
  if (copies || out.phase == engine::TxnPhase::kTransferring) {
    out.flows = txn.count.flows(std::chrono::duration<double>(now - txn.phase_began).count());
    out.eta = txn.progress.Eta(now);
    if (const auto range = txn.progress.EtaRange(now)) {
      out.eta_least = range->least;
      out.eta_most = range->most;
    }
  } else {
    out.flows = txn.count.flows();
  }
  out.paused =
      txn.paused_since ? std::chrono::duration<double>(now - *txn.paused_since).count() : txn.pause;
  out.checksums_equal = txn.checksums_equal;
  out.reason = txn.start_watch ? txn.start_watch->Text() : txn.run->machine().reason();
  if (precopies && !copies && txn.leg == 1) {
    out.reason = fmt::format("the state is copied after step {}", txn.copied_step);
  }
  if (precopies && txn.run->machine().legs() > 1) {
    out.leg = txn.run->machine().leg();
    out.legs = txn.run->machine().legs();
  }
  out.can_cancel = txn.run->machine().can_cancel();
  out.throttle = txn.throttle;
  out.round = txn.run->machine().round();
  out.rounds = txn.run->machine().rounds();
  out.gradients_done = txn.gradients_done();
  out.kind = txn.entry.kind;
  out.rests = txn.was_paused || txn.recovery.has_value();
  out.step = txn.entry.step;
  return out;
}

wire::ToNode PrepareMessage(const Txn& txn, const Job& job, const Peers& peers) {
  wire::ToNode message;
  auto* p = message.mutable_prepare();
  p->set_transaction(txn.id);
  p->set_attempt(txn.id);
  p->set_slot(txn.slot);
  p->set_job(txn.job);
  p->set_origin(job.start);
  p->set_epoch(txn.epoch);
  p->set_settings(engine::ToJson(job.settings));
  p->set_from_layout(ptc::ToJson(job.layout));
  p->set_to_layout(ptc::ToJson(txn.planned.to));
  p->set_from_hash(txn.planned.plan.from_hash);
  p->set_to_hash(txn.planned.plan.to_hash);
  p->set_plan_hash(txn.planned.plan.hash);
  p->set_timeline(txn.timeline);
  p->set_micro_batch(txn.planned.summary.to_options.micro_batch);
  p->set_relay(txn.planned.summary.relayed);
  *p->mutable_peers() = peers;
  p->set_topology(txn.planned.cluster);
  p->set_verify_full(txn.verify_full);
  p->set_precopy(txn.run->machine().precopies());
  for (const std::vector<int>& leg : txn.planned.legs) {
    p->add_legs()->mutable_tensors()->Add(leg.begin(), leg.end());
  }
  for (const engine::Round& round : txn.planned.rounds) {
    auto* const tensors = p->add_rounds()->mutable_tensors();
    tensors->Add(round.tensors.begin(), round.tensors.end());
  }
  for (const engine::ExtraMemory& extra : txn.planned.summary.in_rounds.extra) {
    Encode(extra.device, p->add_extra()->mutable_device());
    p->mutable_extra(p->extra_size() - 1)->set_bytes(extra.planned);
  }
  if (txn.planned.from) Encode(*txn.planned.from, p);
  if (txn.hand_in) *p->mutable_hand_in() = txn.hand_in->source;
  if (txn.recovery) {
    p->set_recovery(true);
    for (const ptc::DeviceId device : txn.recovery->lost) Encode(device, p->add_lost());
    if (txn.recovery->steps_lost) *p->mutable_snapshot() = txn.recovery->snapshot;
  }
  if (const StoredState* const stored = txn.checkpoint()) {
    p->clear_snapshot();
    p->mutable_checkpoint()->set_path(stored->place);
    p->mutable_checkpoint()->set_parameters_only(stored->parameters_only);
  }
  return message;
}

namespace {

/// The first tensor that is not as the checkpoint says; empty: there is none.
std::string DifferenceFrom(const StoredState& stored, const ptc::Collection& collection,
                           const JobDigest& now) {
  for (std::size_t t = 0; t < stored.digests.size(); ++t) {
    if (!stored.digests[t] || *stored.digests[t] == now.tensors[t]) continue;
    return fmt::format(
        "tensor '{}' of checkpoint '{}' is damaged: it has digest {}, its manifest {}",
        collection.tensors()[t].name, stored.path, ptc::Hex16(now.tensors[t]),
        ptc::Hex16(*stored.digests[t]));
  }
  return {};
}

std::vector<const SideDigests*> ReadBefore(const Txn& txn) {
  std::vector<const SideDigests*> out;
  for (const auto& [node, digests] : txn.digests) {
    if (digests.has_before) out.push_back(&digests.before);
  }
  return out;
}

}  // namespace

std::vector<GroupDifference> DifferingBefore(const Txn& txn) {
  return FindDifferences(ReadBefore(txn));
}

StateComparison CompareStates(Txn& txn) {
  const ptc::Collection& collection = txn.planned.to.collection();
  const std::vector<const SideDigests*> before = ReadBefore(txn);
  std::vector<const SideDigests*> after;
  for (const auto& [node, digests] : txn.digests) {
    if (digests.has_after) after.push_back(&digests.after);
  }
  StateComparison out;
  out.differing_before = FindDifferences(before);
  out.differing_after = FindDifferences(after);
  const JobDigest now = AddUp(collection, after);
  txn.entry.digest_after = ptc::Hex16(now.digest);
  if (const StoredState* const stored = txn.checkpoint()) {
    txn.entry.digest_before = stored->digest;
    out.difference = DifferenceFrom(*stored, collection, now);
    return out;
  }
  if (txn.recovery && txn.recovery->steps_lost) {
    txn.entry.digest_before = txn.recovery->digest;
    if (!txn.entry.digest_before.empty() && txn.entry.digest_before != txn.entry.digest_after) {
      out.difference = fmt::format("the state has digest {}, the snapshot had {}",
                                   txn.entry.digest_after, txn.entry.digest_before);
    }
    return out;
  }
  if (before.empty()) return out;  // a hand-in does not read what it replaces
  const JobDigest then = AddUp(collection, before);
  txn.entry.digest_before = ptc::Hex16(then.digest);
  for (std::size_t t = 0; !txn.hand_in && t < then.tensors.size(); ++t) {
    if (then.tensors[t] == now.tensors[t]) continue;
    out.difference = fmt::format("tensor '{}': digest {} became {}", collection.tensors()[t].name,
                                 ptc::Hex16(then.tensors[t]), ptc::Hex16(now.tensors[t]));
    break;
  }
  return out;
}

}  // namespace tessera::agents
