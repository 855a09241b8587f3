// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/commands/job_describe.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "app/commands/command.h"
#include "app/commands/job_text.h"
#include "app/commands/past.h"
#include "app/commands/phase_text.h"
#include "app/commands/proposal.h"
#include "app/commands/session.h"
#include "app/commands/terminal.h"
#include "app/commands/units.h"
#include "ptc/base/counted.h"

namespace tessera::app {
namespace {

constexpr std::int64_t kDescribedChanges = 5;

using Facts = std::vector<std::vector<std::string>>;

/// The devices of the job on this node with their ranks: "n0g0 rank 0, n0g1 rank 1 slow".
std::string devicesOn(const engine::NodeStatus& node, const engine::JobStatus& job) {
  std::string text;
  for (const engine::DeviceStatus& device : node.devices) {
    if (device.job != job.name) continue;
    text += fmt::format(
        "{}{}{}{}{}", text.empty() ? "" : ", ", ptc::ToString(device.id),
        device.rank ? fmt::format(" rank {}", *device.rank) : "",
        device.failed              ? " " + paintState("failed")
        : device.joining           ? " " + paintState("joining")
        : device.peers_seconds > 0 ? " " + paintState("slow")
                                   : "",
        device.busy_seconds > 0 ? fmt::format(" busy {}", formatSeconds(device.busy_seconds)) : "");
  }
  return text;
}

void addDevices(const engine::ClusterSnapshot& snapshot, const engine::JobStatus& job,
                Facts& facts) {
  for (const engine::NodeStatus& node : snapshot.nodes) {
    const std::string devices = devicesOn(node, job);
    if (devices.empty()) continue;
    const bool isAlive = node.state == engine::NodeState::kAlive;
    facts.push_back(
        {fmt::format("    n{}", node.node),
         isAlive ? devices
                 : fmt::format("{} ({})", devices, paintState(engine::ToString(node.state)))});
  }
}

std::string dataText(const engine::DataStatus& data) {
  std::string text;
  for (const engine::DataStatus::Dataset& part : data.parts)
    text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", part.name, part.format);
  return fmt::format("{}: {} of {} tokens, seed {}", text, Counted(data.num_samples, "sample"),
                     data.sequence, data.seed);
}

std::string metricsText(const engine::Metrics& metrics) {
  std::string text;
  for (const auto& [name, value] : metrics)
    text += fmt::format("{}{} {:.6g}", text.empty() ? "" : ", ", name, value);
  return text;
}

std::string recoveryText(const engine::JobStatus& job) {
  switch (job.on_failure) {
    case engine::OnFailure::kAsk:
      return "asks at a loss";
    case engine::OnFailure::kShrink:
      return "goes on with fewer GPUs at a loss";
    case engine::OnFailure::kWait:
      return "waits for lost GPUs";
  }
  return {};
}

/// What is lost, and how the job could continue.
std::string decisionText(const engine::DecisionStatus& decision) {
  std::string text = fmt::format("{}: {}", engine::ToString(decision.loss), decision.reason);
  if (decision.chosen)
    return text + fmt::format("; {} was chosen", engine::ToString(*decision.chosen));
  if (!decision.can_continue()) return text + "; it cannot continue: " + decision.why_not;
  const engine::RecoveryWay& way = decision.way();
  text += fmt::format("; it can continue on {} ({})", ptc::ToString(way.mesh),
                      Counted(std::ssize(way.devices), "GPU"));
  if (way.steps_lost > 0) text += fmt::format(", {} lost", Counted(way.steps_lost, "step"));
  if (decision.seconds_left)
    text += fmt::format(", by itself in {}", formatSpan(*decision.seconds_left));
  return text;
}

std::string changesTable(const std::vector<engine::HistoryEntry>& changes) {
  if (changes.empty()) return "no changes on record\n";
  Facts rows = {{"change", "started", "to", "result", "moved", "pause", "gap"}};
  for (const engine::HistoryEntry& change : changes)
    rows.push_back({std::to_string(change.id), formatClock(change.started),
                    change.to.substr(0, change.to.find(' ')),
                    change.result.empty() ? "running" : paintState(change.result),
                    formatBytes(change.bytes_moved), formatSeconds(change.pause),
                    change.gap ? formatSeconds(*change.gap) : "-"});
  return formatTable(rows, {0, 4, 5, 6});
}

/// The transaction of the job that has no outcome yet.
const engine::TxnStatus* changeOf(const engine::ClusterSnapshot& snapshot,
                                  const engine::JobStatus& job) {
  const auto& txn = snapshot.transaction;
  return txn && txn->job == job.name && !engine::IsFinal(txn->phase) ? &*txn : nullptr;
}

int runDescribe(const Invocation& call) {
  const std::string name = call.arguments.word(0);
  if (const auto good = checkName("job", name); !good) return wrongUsage(good.error());
  TESSERA_OR_FAILED(auto session, openSession(call));
  TESSERA_OR_FAILED(const auto snapshot, session.snapshot());
  TESSERA_OR_FAILED(const auto job, findJob(snapshot, name));
  engine::TransactionQuery query;
  query.job = name;
  if (job.started > 0) query.time.from = job.started;  // without those of an earlier job
  query.limit = kDescribedChanges;
  TESSERA_OR_FAILED(const auto changes, Past(session).ask(query));
  if (call.json)
    printLine(jobDocument(snapshot, job, changes));
  else
    fmt::print("{}", describeJob(snapshot, job, changes));
  return kDone;
}

}  // namespace

std::string describeJob(const engine::ClusterSnapshot& snapshot, const engine::JobStatus& job,
                        const std::vector<engine::HistoryEntry>& changes) {
  if (job.state == engine::JobState::kUnknown)
    return fmt::format("job {}: {}\n{}\n", job.name, paintState(engine::ToString(job.state)),
                       job.reason);
  Facts facts;
  const auto fact = [&facts](const char* name, std::string value) {
    if (!value.empty()) facts.push_back({fmt::format("  {}", name), std::move(value)});
  };
  if (job.started > 0) {
    const auto age = ageOf(snapshot, job);
    fact("started", fmt::format("{}{}{}", formatClock(job.started),
                                age ? fmt::format(", {} ago", formatSpan(*age)) : "",
                                job.owner.empty() ? "" : ", by " + job.owner));
  }
  fact("model", job.model);
  if (!job.command.empty()) fact("program", fmt::format("`{}`", job.command));
  if (!job.data.empty()) fact("data", dataText(job.data));
  fact("progress", progressOf(job));
  const bool waits = job.state != engine::JobState::kRunning &&
                     job.state != engine::JobState::kFailed && !job.finished;
  fact(waits ? "waiting" : "reason", job.reason);
  if (job.decision) fact("decision", decisionText(*job.decision));
  if (const engine::TxnStatus* const txn = changeOf(snapshot, job))
    fact("change",
         fmt::format("transaction {}, to {}: {}, {} of {}", txn->id, ptc::ToString(txn->to_mesh),
                     paintState(phaseText(*txn, job.step_seconds)), formatBytes(txn->bytes_done),
                     formatBytes(txn->bytes_total)));
  if (job.step_seconds)
    fact("pace", fmt::format("{} a step{}", formatSeconds(*job.step_seconds),
                             job.tokens_per_second
                                 ? fmt::format(", {:.0f} tokens/s", *job.tokens_per_second)
                                 : ""));
  if (job.loss) fact("loss", fmt::format("{:.6f}", *job.loss));
  fact("metrics", metricsText(job.metrics));
  if (!job.devices.empty()) {
    const std::string options = engine::ToString(job.options);
    fact("mesh",
         fmt::format("{}{}", ptc::ToString(job.mesh), options.empty() ? "" : ", " + options));
    fact("GPUs", std::to_string(job.devices.size()));
    addDevices(snapshot, job, facts);
  }
  if (job.global_batch > 0) fact("batch", Counted(job.global_batch, "sample"));
  if (job.state_bytes > 0)
    fact("state",
         fmt::format("{} in {}", formatBytes(job.state_bytes), Counted(job.num_tensors, "tensor")));
  fact("epoch", fmt::format("{}, timeline {}{}", job.epoch, job.timeline,
                            job.layout_hash.empty() ? "" : ", layout " + job.layout_hash));
  if (job.survival) fact("redundancy", describeSurvival(*job.survival));
  fact("recovery", recoveryText(job));
  fact("snapshots", describeSnapshots(job.snapshots));
  const std::string checkpoints = describeCheckpoints(job.checkpoints);
  fact("checkpoints", checkpoints.empty() ? "none" : checkpoints);
  if (!job.at_change.empty()) fact("wrong on purpose", "it " + job.at_change);
  return fmt::format("job {}: {}\n{}\n{}", job.name, paintState(engine::ToString(job.state)),
                     formatTable(facts), changesTable(changes));
}

Json jobDocument(const engine::ClusterSnapshot& snapshot, const engine::JobStatus& job,
                 const std::vector<engine::HistoryEntry>& changes) {
  Json json = toJson(job, snapshot.time);
  Json nodes = Json::array();
  const Json whole = toJson(snapshot);
  for (const Json& node : whole["nodes"]) {
    Json devices = Json::array();
    for (const Json& device : node["devices"])
      if (device["job"] == job.name) devices.push_back(device);
    if (devices.empty()) continue;
    nodes.push_back(
        {{"name", node["name"]}, {"state", node["state"]}, {"devices", std::move(devices)}});
  }
  json["nodes"] = std::move(nodes);
  const engine::TxnStatus* const txn = changeOf(snapshot, job);
  json["transaction"] = txn != nullptr ? toJson(*txn) : Json(nullptr);
  json["changes"] = Json::array();
  for (const engine::HistoryEntry& change : changes) json["changes"].push_back(toJson(change));
  return json;
}

Command jobDescribeCommand() {
  return {
      {.verb = "job describe",
       .summary = "Show everything about one job: mesh, GPUs, progress, recovery, changes",
       .words = {{"JOB", "name of the job"}},
       .examples = {"tesseractl job describe gpt-mini", "tesseractl job describe gpt-mini --json"}},
      runDescribe};
}

}  // namespace tessera::app
