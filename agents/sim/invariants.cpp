// SPDX-License-Identifier: Apache-2.0
#include "agents/sim/invariants.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "agents/node/transaction_part.h"
#include "agents/registrar/txn_row.h"
#include "agents/sim/chance_model.h"
#include "agents/wire/tessera/wire/control.pb.h"
#include "engine/copy/checksum.h"
#include "ptc/base/check.h"
#include "ptc/digest.h"

namespace tessera::agents::sim {
namespace {

/// As in the header of an arena.
std::uint64_t HashOf(const std::string& job) {
  return engine::Checksum(std::as_bytes(std::span(job)));
}

}  // namespace

std::optional<std::string> Invariants::Get(const std::string& key) const {
  const auto found = world_.registrar_disk->rows.find(key);
  if (found == world_.registrar_disk->rows.end()) return std::nullopt;
  return found->second;
}

std::optional<JobTableRow> Invariants::RowOf(const std::string& job) const {
  const auto text = Get("job/" + job);
  if (!text) return std::nullopt;
  auto row = ParseJobTableRow("job", *text);
  if (!row) return std::nullopt;
  return std::move(*row);
}

// ---- what happens

void Invariants::OnDecided(const std::string& value) {
  const auto decision = engine::ParseDecision(value);
  if (!decision || !decision->commit) return;
  ++world_.result->commits;
  const auto text = Get(kTxnKey);
  const auto txn = text ? ParseTxnRow(*text) : Result<TxnRow>(NotFound(""));
  const auto job = txn ? RowOf(txn->job) : std::nullopt;
  if (!job) return world_.sim->Violate("a commit without a transaction and a job");
  world_.result->in_rounds += txn->rounds.empty() ? 0 : 1;
  world_.result->from_left += txn->recovery && job->remains ? 1 : 0;
  for (std::int64_t epoch = decision->epoch;
       epoch > decision->epoch - std::max<std::int64_t>(1, std::ssize(txn->rounds)); --epoch) {
    commits_.emplace(HashOf(txn->job), epoch);  // each round is one
  }
  std::set<std::int32_t> participants;
  for (const ptc::DeviceId device : txn->to.mesh().devices()) participants.insert(device.node);
  if (txn->recovery) {
    ++world_.result->recoveries;
  } else {
    for (const ptc::DeviceId device : job->job.layout.mesh().devices()) {
      participants.insert(device.node);
    }
  }
  for (const std::int32_t n : participants) {
    if (!At(n).has_keeper() || At(n).keeper_since() > txn->started) continue;
    const auto kept = TransactionPart::Load(At(n).disk);
    const bool has = kept && *kept && (*kept)->id == decision->transaction &&
                     (*kept)->state >= engine::ParticipantState::kVerified;
    if (!has) {
      world_.sim->Violate(fmt::format("transaction {} is committed, n{} has not verified it",
                                      decision->transaction, n));
    }
  }
}

void Invariants::OnToNode(const wire::ToNode& m) {
  if (m.has_outcome() && m.outcome().round() < 0) {
    world_.faults->NoteStateLoss();
    world_.result->left += given_up_.insert(m.outcome().transaction()).second ? 1 : 0;
  }
  if (m.has_outcome() && m.outcome().round() > 0) world_.faults->OnRound();
  if (m.has_transfer() && m.transfer().leg() > 1) followed_.insert(m.transfer().transaction());
  if (m.has_outcome()) CheckOutcome(m.outcome().transaction(), m.outcome().value());
  if (m.has_start_job() && m.start_job().again()) NoteRestart(m.start_job());
}

// The register is read before anybody is told. `abort` is also told where the slot holds the
// decision of another transaction.
void Invariants::CheckOutcome(std::int64_t transaction, const std::string& value) const {
  bool holds = false;
  for (const auto& [key, held] : world_.decision_rows->rows) {
    const auto decision = key.starts_with("decision/") ? engine::ParseDecision(held) : NotFound("");
    if (!decision || decision->transaction != transaction) continue;
    if (held != value) {
      return world_.sim->Violate(
          fmt::format("the outcome of transaction {} is told as '{}', the "
                      "register holds '{}'",
                      transaction, value, held));
    }
    holds = true;
  }
  const auto told = engine::ParseDecision(value);
  if (!holds && told && told->commit) {
    world_.sim->Violate(fmt::format(
        "transaction {} is told as committed before the register holds it", transaction));
  }
}

// A step that is decided in the memory of a device that goes on is known.
void Invariants::NoteRestart(const wire::StartJob& start) const {
  const auto row = RowOf(start.job());
  if (!row) return;
  for (const ptc::DeviceId id : row->job.layout.mesh().devices()) {
    const DeviceMemory* const memory = At(id.node).memory(id.index);
    if (!memory || memory->header().epoch.load() != static_cast<std::uint64_t>(start.epoch())) {
      continue;
    }
    if (memory->header().decision_step.load() == static_cast<std::uint64_t>(start.step())) {
      world_.steps->Found(kRegistrar, start.job(), start.step());
    }
  }
}

void Invariants::OnPublished(const wire::Published& message) {
  if (!message.has_event()) return;
  // No fault of the simulation changes state without notice. A damaged transfer is rolled back.
  if (message.event().text().find("committed, replicas differ") != std::string::npos) {
    world_.sim->Violate(message.event().text());
  }
  if (world_.faults->may_suspend()) return;
  if (message.event().text().starts_with("suspended after")) {
    world_.sim->Violate("without any cause the job is " + message.event().text());
  }
}

void Invariants::OnKill(const SimRank& rank) {
  const RankId& id = rank.spec().id;
  if (!rank.is_updating() || rank.is_stopped()) return;
  const auto row = RowOf(id.job);
  const bool is_of_use = row && row->job.layout.mesh().RankOf(id.device) &&
                         !At(id.device.node).has_failed(id.device.index);
  if (is_of_use) {
    world_.sim->Violate(
        fmt::format("the rank on {} is killed inside its update", ToString(id.device)));
  }
}

void Invariants::CheckDevices() {
  for (std::int32_t n = 0; n < world_.num_nodes(); ++n) {
    SimNode& node = At(n);
    if (!node.has_keeper()) continue;
    for (std::int32_t i = 0; i < node.config().devices; ++i) {
      if (node.num_ranks(i) > 1) {
        world_.sim->Violate(fmt::format("two ranks run on n{}g{}", n, i));
      }
      const engine::ArenaHeader& header = node.memory(i)->header();
      const auto epoch = static_cast<std::int64_t>(header.epoch.load());
      const std::uint64_t job = header.job_hash.load();
      if (epoch > 1 && job != 0 && !commits_.contains({job, epoch})) {
        world_.sim->Violate(
            fmt::format("n{}g{} is in epoch {}, which nobody has committed", n, i, epoch));
      }
      world_.result->steps =
          std::max(world_.result->steps, static_cast<std::int64_t>(header.end.load()));
    }
  }
}

// ---- the end

std::string Invariants::FindWrong() const {
  const auto status = world_.person->Look();
  if (!status) return "there is no registrar";
  if (status->jobs.empty()) return "there is no job";
  const engine::JobStatus& job = status->jobs.front();
  if (status->transaction && !IsFinal(status->transaction->phase)) {
    return fmt::format("transaction {} is still {}", status->transaction->id,
                       ToString(status->transaction->phase));
  }
  const bool is_lost = job.decision && !job.decision->can_continue();
  if (is_lost && world_.faults->may_lose_state()) return {};
  if (job.state != engine::JobState::kRunning) {
    return fmt::format("the job is {} after step {}: {}", ToString(job.state), job.step,
                       job.decision ? job.decision->why_not : job.reason);
  }
  if (job.step < 1) return "the job has made no step";
  for (std::int32_t n = 0; n < world_.num_nodes(); ++n) {
    const SimNode& node = At(n);
    if (!node.has_keeper()) continue;
    for (std::int32_t i = 0; i < node.config().devices; ++i) {
      const ptc::DeviceId id{n, i};
      const bool has_rank =
          std::find(job.devices.begin(), job.devices.end(), id) != job.devices.end();
      const int running = node.num_ranks(i);
      if (running != (has_rank ? 1 : 0)) {
        return fmt::format("{} ranks run on {}", running, ToString(id));
      }
    }
  }
  std::string wrong = FindWrongSample(job.name);
  return wrong.empty() ? FindWrongDigest(job.name) : wrong;
}

std::string Invariants::FindWrongDigest(const std::string& job) const {
  const auto row = RowOf(job);
  const auto entries = world_.history->Transactions(job, 0);
  TESSERA_CHECK(entries.has_value());
  if (!row) return {};
  const ptc::Collection& collection = row->job.layout.collection();
  std::int64_t num_digests = 0, num_overlapped = 0, num_followed = 0;
  for (const engine::HistoryEntry& entry : *entries) {
    if (entry.result.empty()) return fmt::format("transaction {} has no outcome", entry.id);
    if (entry.result != "committed" || entry.digest_after.empty()) continue;
    const auto digest_of = [&](std::int64_t step) {
      std::vector<std::uint64_t> tensors;
      for (std::size_t t = 0; t < collection.tensors().size(); ++t) {
        tensors.push_back(DigestOf(step, static_cast<int>(t),
                                   *ptc::NumElements(collection.tensors()[t].shape), {}));
      }
      return ptc::Hex16(ptc::CollectionDigest(collection, tensors));
    };
    const std::string expected = digest_of(entry.step);
    // The state was copied before the update of the step after which the job continued.
    const bool is_of_before =
        entry.phases.contains("precopying") && entry.digest_after == digest_of(entry.step - 1);
    if (entry.digest_before == entry.digest_after &&
        (entry.digest_after == expected || is_of_before)) {
      ++num_digests;
      num_overlapped += is_of_before ? 1 : 0;
      num_followed += followed_.contains(entry.id) ? 1 : 0;
      continue;
    }
    return fmt::format("transaction {} has digests {} and {}, the state of step {} has {}",
                       entry.id, entry.digest_before, entry.digest_after, entry.step, expected);
  }
  world_.result->digests = num_digests;
  world_.result->overlapped = num_overlapped;
  world_.result->followed = num_followed;
  return {};
}

std::string Invariants::FindWrongSample(const std::string& job) const {
  const auto samples = world_.history->Samples({.job = job});
  TESSERA_CHECK(samples.has_value());
  std::int64_t last = 0;
  for (const engine::Sample& sample : *samples) {
    while (last + 1 < sample.step && world_.steps->is_lost(job, last + 1)) ++last;
    if (sample.step != last + 1) {
      return fmt::format("step {} follows step {} in the history", sample.step, last);
    }
    last = sample.step;
    const std::int64_t timeline = world_.steps->TimelineOf(job, sample.step);
    if (sample.loss != ChanceModel::LossOf(sample.step, timeline) &&
        !world_.steps->is_lost(job, sample.step)) {
      return fmt::format("step {} has loss {} in the history, it was made in timeline {}", last,
                         sample.loss, timeline);
    }
  }
  return last == 0 ? "the history has no step" : "";
}

}  // namespace tessera::agents::sim
