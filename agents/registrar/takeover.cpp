// SPDX-License-Identifier: Apache-2.0
#include "agents/registrar/takeover.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "agents/node/job_row.h"
#include "agents/registrar/checkpoint_row.h"
#include "agents/registrar/job.h"
#include "agents/registrar/mirrored_journal.h"
#include "agents/registrar/txn_row.h"
#include "agents/views/snapshot_row.h"
#include "engine/model/job_layout.h"

namespace tessera::agents {
namespace {

constexpr std::chrono::milliseconds kTick{200};
// Nodes look for another registrar every 3 s, and then restart.
constexpr std::chrono::seconds kPause{5};
constexpr const char* kComplete = "taken-over";
// No registrar begins so many transactions, so numbers are not used twice.
constexpr std::int64_t kNumbersPerGeneration = 1'000'000;

/// Nodes send these rows, so each is read before it counts.
Status Check(const wire::KeptRow& row) {
  const std::string& key = row.key();
  if (!IsMirrored(key)) return InvalidArgument(fmt::format("row '{}' is not of a job", key));
  const auto status = [](const auto& parsed) -> Status {
    if (!parsed) return parsed.error();
    return OkStatus();
  };
  if (key.starts_with("job/")) {
    TESSERA_TRY(const JobTableRow job, ParseJobTableRow(key, row.value()));
    return status(engine::ParseJobSettings(job.job.settings));
  }
  if (key == kTxnKey) return status(ParseTxnRow(row.value()));
  if (key == kRoundKey) return status(ParseRoundRow(row.value()));
  if (key.starts_with("snapshot/")) return status(ParseSnapshotRow(key, row.value()));
  if (key.starts_with("checkpoint/")) return status(ParseCheckpointRow(key, row.value()));
  if (key.starts_with("checkpoint-lineage/")) return status(ParseLineageRow(key, row.value()));
  if (key.starts_with("checkpoint-schedule/")) return status(ParseScheduleRow(key, row.value()));
  return OkStatus();
}

std::string NamesOf(const std::set<std::int32_t>& nodes) {
  std::string names;
  for (const std::int32_t node : nodes)
    names += fmt::format("{}n{}", names.empty() ? "" : ", ", node);
  return names;
}

}  // namespace

Takeover::Takeover(Timers& timers, const AgentConfig& config, std::int64_t generation,
                   engine::DurableStore& journal, World world)
    : timers_(timers),
      config_(config),
      generation_(generation),
      journal_(journal),
      world_(std::move(world)) {
  period_ = timers_.Every(kTick, [this] { Tick(); });
}

Takeover::~Takeover() { timers_.Cancel(period_); }

Result<bool> Takeover::IsComplete(engine::DurableStore& journal) {
  TESSERA_TRY(const auto mark, journal.Get(kComplete));
  return mark.has_value();
}

void Takeover::OnNode(const std::string& identity, const wire::FromNode& m) {
  if (m.has_kept_rows()) return Note(m.node(), m.kept_rows());
  if (m.has_cannot_run()) problems_[m.node()] = m.cannot_run().reason();
  if (!m.has_register_()) return;
  wire::ToNode welcome;
  welcome.mutable_welcome()->set_cluster(config_.cluster);
  welcome.mutable_welcome()->set_wants_rows(true);
  world_.send(identity, welcome);
}

void Takeover::Note(std::int32_t node, const wire::KeptRows& rows) {
  if (reported_.insert(node).second) {
    last_arrival_ = timers_.now();
    world_.print(fmt::format("n{} keeps {} rows of the earlier registrar", node, rows.rows_size()));
  }
  // Nobody has a revision of this generation or a later one.
  const bool is_possible = MirroredJournal::GenerationOf(rows.revision()) < generation_;
  if (!is_possible || rows.revision() <= 0) return;
  copies_.insert(node);
  nodes_.insert(rows.nodes().begin(), rows.nodes().end());
  if (rows.revision() <= rows_.revision()) return;
  off_.reset();
  if (!rows.nodes().empty() && rows.registrar() != config_.node) off_ = rows.registrar();
  rows_.Clear();
  rows_.set_revision(rows.revision());
  for (const wire::KeptRow& row : rows.rows()) {
    if (const Status good = Check(row); good) {
      *rows_.add_rows() = row;
    } else {
      world_.print(fmt::format("dropped a row of n{}: {}", node, good.error().ToString()));
    }
  }
  awaited_ = Awaited();
}

std::set<std::int32_t> Takeover::Awaited() const {
  std::set<std::int32_t> nodes;
  for (const wire::KeptRow& row : rows_.rows()) {
    if (row.key().starts_with("job/")) {
      if (const auto job = ParseJobTableRow(row.key(), row.value())) {
        nodes.merge(NodesOf(job->job.layout.mesh()));
        if (!job->remains) continue;
        for (const ptc::DeviceId device : job->remains->where.devices()) nodes.insert(device.node);
      }
    } else if (row.key() == kTxnKey) {
      if (const auto txn = ParseTxnRow(row.value())) nodes.merge(NodesOf(txn->to.mesh()));
    }
  }
  return nodes;
}

std::string Takeover::Text() const {
  std::set<std::int32_t> wanted = awaited_;
  if (!Suffices() || IsOlder()) {
    wanted.insert(config_.node);
    wanted.insert(nodes_.begin(), nodes_.end());
    // Its own disk may have the latest copy.
    if (off_ && !IsOlder()) wanted.erase(*off_);
  }
  std::set<std::int32_t> missing;
  std::ranges::set_difference(wanted, copies_, std::inserter(missing, missing.end()));
  std::string problems;
  for (const std::int32_t node : missing) {
    const auto found = problems_.find(node);
    if (found != problems_.end()) problems += fmt::format(" ({})", found->second);
  }
  return fmt::format(
      "n{} takes over as the registrar: {}{}{}", config_.node,
      reported_.empty() ? "no node has reported yet" : NamesOf(reported_) + " reported",
      missing.empty() ? "" : ", waiting for " + NamesOf(missing) + problems,
      IsOlder() ? fmt::format("; etcd notes a later job table than these nodes have: start a node "
                              "that has it, or `tesseractl registrar move n{} --older` uses the "
                              "older one",
                              config_.node)
                : "");
}

bool Takeover::Suffices() const {
  if (!reported_.contains(config_.node) || copies_.empty()) return false;
  if (nodes_.empty()) return true;  // copies of an earlier version do not name the nodes
  const auto counts = [this](std::int32_t node) { return node != off_; };
  const auto has_copy = [this](std::int32_t node) { return copies_.contains(node); };
  const auto named = std::ranges::count_if(awaited_, counts);
  const auto has_named = std::ranges::all_of(
      awaited_, [&](std::int32_t node) { return !counts(node) || has_copy(node); });
  if (named > 0 && has_named) return true;
  const auto all = std::ranges::count_if(nodes_, counts);
  return 2 * std::ranges::count_if(
                 nodes_, [&](std::int32_t node) { return counts(node) && has_copy(node); }) >
         all;
}

void Takeover::Tick() {
  if (!last_arrival_) last_arrival_ = timers_.now();
  const auto silence = timers_.now() - *last_arrival_;
  const bool has_all = reported_.contains(config_.node) && !awaited_.empty() &&
                       std::ranges::includes(copies_, awaited_) && silence >= kPause;
  const bool is_late = silence >= std::chrono::seconds(config_.node_lost_seconds);
  if (!has_all && !(is_late && Suffices())) return;
  noted_ = world_.noted ? world_.noted() : 0;
  if (!noted_) return;
  if (IsOlder()) {
    if (!std::exchange(has_said_older_, true)) world_.print(Text());
    return;
  }
  if (const Status written = Write(); !written) {
    world_.print("the takeover cannot be journaled: " + written.error().ToString());
    last_arrival_ = timers_.now();  // again later
    return;
  }
  timers_.Cancel(period_);
  world_.print(Text() + ": done");
  const auto done = world_.done;
  done();
}

// An attempt that was cut off may have left rows of another copy.
Status Takeover::Write() {
  TESSERA_TRY(const auto before, journal_.List(""));
  for (const auto& [key, value] : before) {
    if (IsMirrored(key)) TESSERA_RETURN_IF_ERROR(journal_.Erase(key));
  }
  for (const wire::KeptRow& row : rows_.rows()) {
    TESSERA_RETURN_IF_ERROR(journal_.Put(row.key(), row.value()));
  }
  const std::int64_t first = (generation_ - 1) * kNumbersPerGeneration + 1;
  TESSERA_RETURN_IF_ERROR(journal_.Put("next_number", std::to_string(first)));
  return journal_.Put(kComplete, std::to_string(generation_));
}

}  // namespace tessera::agents
