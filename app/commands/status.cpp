// SPDX-License-Identifier: GPL-3.0-or-later
/// \file
/// `status`: nodes, devices, jobs and the transaction in progress; `job list`.

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

#include "app/commands/command.h"
#include "app/commands/interrupt.h"
#include "app/commands/json.h"
#include "app/commands/past.h"
#include "app/commands/phase_text.h"
#include "app/commands/proposal.h"
#include "app/commands/session.h"
#include "app/commands/terminal.h"
#include "app/commands/units.h"
#include "ptc/base/counted.h"

namespace tessera::app {
namespace {

std::string describeStatus(const engine::DeviceStatus& device) {
  if (device.failed) return paintState("failed");
  if (device.joining) return paintState("joining");
  if (device.peers_seconds > 0) return device.job + " " + paintState("slow");
  return device.job.empty() ? "idle" : device.job;
}

std::string orDash(std::string text) { return text.empty() ? "-" : std::move(text); }

std::string describeGpu(const engine::NodeStatus& node) {
  return node.gpu.empty() ? "" : node.gpu + ", " + node.gpu_driver;
}

std::string deviceTable(const engine::ClusterSnapshot& snapshot) {
  const bool hasRacks = std::ranges::any_of(
      snapshot.nodes, [](const engine::NodeStatus& node) { return !node.rack.empty(); });
  std::vector<std::vector<std::string>> rows = {
      {"node", "state", "device", "used", "total", "job", "rank", "busy"}};
  const bool hasGpus = std::ranges::any_of(
      snapshot.nodes, [](const engine::NodeStatus& node) { return !node.gpu.empty(); });
  if (hasRacks) rows[0].push_back("rack");
  if (hasGpus) rows[0].push_back("GPU");
  for (const engine::NodeStatus& node : snapshot.nodes) {
    bool first = true;
    for (const engine::DeviceStatus& device : node.devices) {
      rows.push_back({first ? fmt::format("n{}", node.node) : "",
                      first ? paintState(engine::ToString(node.state)) : "",
                      ptc::ToString(device.id), formatBytes(device.used_bytes),
                      formatBytes(device.total_bytes), describeStatus(device),
                      device.rank ? std::to_string(*device.rank) : "",
                      device.busy_seconds > 0 ? formatSeconds(device.busy_seconds) : ""});
      if (hasRacks) rows.back().push_back(first ? orDash(node.rack) : "");
      if (hasGpus) rows.back().push_back(first ? orDash(describeGpu(node)) : "");
      first = false;
    }
    if (node.devices.empty())
      rows.push_back({fmt::format("n{}", node.node), paintState(engine::ToString(node.state))});
  }
  return formatTable(rows, {3, 4, 6, 7});
}

/// Why nodes take no part, and "n1: network: 3 corrupt frames requested again" for each node with
/// any fault.
std::string nodeProblemLines(const engine::ClusterSnapshot& snapshot) {
  std::string text;
  for (const engine::NodeStatus& node : snapshot.nodes)
    if (!node.problem.empty()) text += fmt::format("{}\n", node.problem);
  for (const engine::NodeStatus& node : snapshot.nodes)
    if (const std::string faults = ToText(node.network); !faults.empty())
      text += fmt::format("n{}: network: {}\n", node.node, faults);
  return text;
}

std::string describeSnapshots(const engine::SnapshotStatus& snapshots) {
  const engine::SnapshotEvery every = snapshots.every;
  std::string text = every.steps > 0     ? fmt::format("snapshot every {} steps", every.steps)
                     : every.seconds > 0 ? fmt::format("snapshot every {} s", every.seconds)
                     : snapshots.step    ? std::string("no further snapshots, kept")
                                         : std::string("no snapshot");
  if (snapshots.step) {
    text += fmt::format(": step {}, {} on {}", *snapshots.step, formatBytes(snapshots.bytes),
                        Counted(snapshots.num_nodes, "node"));
    if (snapshots.num_nodes == 1) text += " (does not survive its loss)";
    if (snapshots.seconds > 0) text += ", taken in " + formatSeconds(snapshots.seconds);
  } else if (every.is_on()) {
    text += ": none";
  }
  if (snapshots.forecast.bytes > 0)
    text += fmt::format(", up to {} on n{} while the next is taken",
                        formatBytes(snapshots.forecast.peak_bytes), snapshots.forecast.peak_node);
  if (!snapshots.problem.empty()) text += "; the last was given up: " + snapshots.problem;
  return text;
}

std::string describeCheckpoints(const engine::CheckpointStatus& checkpoints) {
  std::string text;
  const auto add = [&text](const std::string& part) { text += (text.empty() ? "" : "; ") + part; };
  if (checkpoints.step)
    add(fmt::format("checkpoint of step {}: {}", *checkpoints.step, checkpoints.path));
  if (const auto& schedule = checkpoints.schedule; schedule.every.is_on())
    add(fmt::format("saved every {}{} in {}", engine::ToString(schedule.every),
                    schedule.every.steps > 0 ? " steps" : "", schedule.folder));
  if (checkpoints.is_saving)
    add(checkpoints.total == 0
            ? std::string("one is being saved")
            : fmt::format("one is being saved, {} of {}", formatBytes(checkpoints.done),
                          formatBytes(checkpoints.total)));
  if (!checkpoints.problem.empty()) add("the last was not saved: " + checkpoints.problem);
  return text;
}

std::string jobTable(const engine::ClusterSnapshot& snapshot) {
  std::vector<std::vector<std::string>> rows = {
      {"job", "state", "step", "loss", "tokens/s", "s/step", "mesh", "options", "epoch", "layout"}};
  for (const engine::JobStatus& job : snapshot.jobs) {
    const bool isKnown = job.state != engine::JobState::kUnknown;
    rows.push_back({job.name, paintState(engine::ToString(job.state)),
                    isKnown ? std::to_string(job.step) : "-",
                    job.loss ? fmt::format("{:.4f}", *job.loss) : "-",
                    job.tokens_per_second ? fmt::format("{:.0f}", *job.tokens_per_second) : "-",
                    job.step_seconds ? fmt::format("{:.3f}", *job.step_seconds) : "-",
                    job.devices.empty() ? "-" : ptc::ToString(job.mesh),
                    isKnown ? orDash(engine::ToString(job.options)) : "-",
                    std::to_string(job.epoch), orDash(job.layout_hash)});
  }
  std::string text = formatTable(rows, {2, 3, 4, 5, 8});
  for (const engine::JobStatus& job : snapshot.jobs)
    if (!job.command.empty())
      text += fmt::format("{}: {}runs `{}`\n", job.name, job.model.empty() ? "" : job.model + ", ",
                          job.command);
  for (const engine::JobStatus& job : snapshot.jobs)
    if (job.survival) text += fmt::format("{}: {}\n", job.name, describeSurvival(*job.survival));
  for (const engine::JobStatus& job : snapshot.jobs)
    if (!job.at_change.empty())
      text += fmt::format("{}: wrong on purpose: it {}\n", job.name, job.at_change);
  for (const engine::JobStatus& job : snapshot.jobs)
    if (job.snapshots.every.is_on() || job.snapshots.step || !job.snapshots.problem.empty())
      text += fmt::format("{}: {}\n", job.name, describeSnapshots(job.snapshots));
  for (const engine::JobStatus& job : snapshot.jobs)
    if (const std::string checkpoints = describeCheckpoints(job.checkpoints); !checkpoints.empty())
      text += fmt::format("{}: {}\n", job.name, checkpoints);
  for (const engine::JobStatus& job : snapshot.jobs)
    if (!job.reason.empty()) text += fmt::format("{}: {}\n", job.name, job.reason);
  return text;
}

/// ", simulated: h100, 10 seconds per second".
std::string describeSimulation(const engine::ClusterSnapshot& snapshot) {
  if (!snapshot.simulation) return {};
  const engine::SimulationStatus& simulation = *snapshot.simulation;
  return fmt::format(", simulated: {}, {} s per second{}", simulation.hardware, simulation.speed,
                     simulation.reached < simulation.speed
                         ? fmt::format(" ({} reached)", simulation.reached)
                         : "");
}

std::string describeStatus(const engine::ClusterSnapshot& snapshot) {
  std::string text = fmt::format(
      "cluster {}{}{}{}{}\n\n{}", snapshot.cluster,
      snapshot.history_problem.empty()
          ? ""
          : fmt::format(", history cannot be written: {}; events wait in memory",
                        snapshot.history_problem),
      describeSimulation(snapshot),
      snapshot.link_bytes_per_second > 0
          ? fmt::format(", links of {} ({})", formatRate(snapshot.link_bytes_per_second),
                        snapshot.simulation ? "simulated" : "emulated")
          : "",
      snapshot.plain_lanes ? ", plain lanes (bulk data is not encrypted)" : "",
      deviceTable(snapshot));
  if (const std::string problems = nodeProblemLines(snapshot); !problems.empty())
    text += "\n" + problems;
  if (snapshot.lease)
    text += fmt::format("\noperated in a panel by {}, since {}\n", snapshot.lease->who,
                        formatClock(snapshot.lease->since));
  if (!snapshot.jobs.empty()) text += "\n" + jobTable(snapshot);
  if (const auto& txn = snapshot.transaction; txn && !engine::IsFinal(txn->phase))
    text += fmt::format("\ntransaction {} of {}: {}, {} of {}\n", txn->id, txn->job,
                        paintState(phaseText(*txn, stepSecondsOf(snapshot, txn->job))),
                        formatBytes(txn->bytes_done), formatBytes(txn->bytes_total));
  return text;
}

/// Shows the status once a second: in place on a terminal, one below the other elsewhere.
int watchStatus(const Invocation& call, Session& session) {
  countInterrupts();
  const bool inPlace = !call.json && isatty(STDOUT_FILENO) != 0;
  bool isWaiting = false;
  while (numInterrupts() == 0) {
    const auto snapshot = session.snapshot();
    if (!snapshot) {
      if (!waitsForRegistrar(snapshot.error(), isWaiting)) return failed(snapshot.error());
      continue;
    }
    isWaiting = false;
    if (call.json)
      printLine(toJson(*snapshot));
    else
      fmt::print("{}{}{}", inPlace ? "\033[H\033[J" : "", describeStatus(*snapshot),
                 inPlace ? "" : "\n");
    flushOutput();
    if (outputError() != 0) return kFailed;
    for (int i = 0; i < 10 && numInterrupts() == 0; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  return kDone;
}

int runStatus(const Invocation& call) {
  TESSERA_OR_FAILED(auto session, openSession(call));
  if (call.arguments.has("watch")) return watchStatus(call, session);
  TESSERA_OR_FAILED(const auto snapshot, session.snapshot());
  if (call.json)
    printLine(toJson(snapshot));
  else
    fmt::print("{}", describeStatus(snapshot));
  return kDone;
}

int runJobList(const Invocation& call) {
  TESSERA_OR_FAILED(auto session, openSession(call));
  TESSERA_OR_FAILED(const auto snapshot, session.snapshot());
  if (call.arguments.has("names")) {
    std::vector<std::string> names;
    for (const engine::JobStatus& job : snapshot.jobs) names.push_back(job.name);
    return printNames(names);
  }
  if (call.json)
    printLine({{"jobs", toJson(snapshot)["jobs"]}});
  else
    fmt::print("{}", snapshot.jobs.empty() ? "no jobs\n" : jobTable(snapshot));
  return kDone;
}

}  // namespace

Command statusCommand() {
  return {{.verb = "status",
           .summary = "Show nodes, GPUs, jobs and the transaction in progress",
           .options = {{.name = "watch",
                        .value = "",
                        .help = "repeat every second until interrupted; with --json one document "
                                "per line",
                        .letter = 'w'}},
           .examples = {"tesseractl status", "tesseractl status --watch",
                        "tesseractl --cluster lab status --json"}},
          runStatus};
}

Command jobListCommand() {
  return {{.verb = "job list",
           .summary = "List the jobs of the cluster",
           .options = {namesOption()},
           .examples = {"tesseractl job list", "tesseractl job list --json"}},
          runJobList};
}

}  // namespace tessera::app
