// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/commands/status_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "app/commands/job_text.h"
#include "app/commands/phase_text.h"
#include "app/commands/terminal.h"
#include "app/commands/units.h"
#include "ptc/base/counted.h"

namespace tessera::app {
namespace {

constexpr std::size_t kMostProblems = 20;  // lines of a summary

std::string describeUse(const engine::DeviceStatus& device) {
  if (device.failed) return paintState("failed");
  if (device.joining) return paintState("joining");
  if (device.peers_seconds > 0) return device.job + " " + paintState("slow");
  return device.job.empty() ? "idle" : device.job;
}

std::string textOrDash(const std::string& text) { return text.empty() ? "-" : text; }

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
                      formatBytes(device.total_bytes), describeUse(device),
                      device.rank ? std::to_string(*device.rank) : "",
                      device.busy_seconds > 0 ? formatSeconds(device.busy_seconds) : ""});
      if (hasRacks) rows.back().push_back(first ? textOrDash(node.rack) : "");
      if (hasGpus) rows.back().push_back(first ? textOrDash(describeGpu(node)) : "");
      first = false;
    }
    if (node.devices.empty())
      rows.push_back({fmt::format("n{}", node.node), paintState(engine::ToString(node.state))});
  }
  return formatTable(rows, {3, 4, 6, 7});
}

/// "128: 127 alive, 1 dead".
std::string countedText(std::size_t total,
                        const std::vector<std::pair<std::string, std::size_t>>& parts) {
  std::string text = fmt::format("{}", total);
  const char* separator = ": ";
  for (const auto& [name, count] : parts) {
    if (count == 0) continue;
    text += fmt::format("{}{} {}", separator, count, name);
    separator = ", ";
  }
  return text;
}

/// "n17 is dead, last heard 12 s ago", "n3g4 has failed", "n9g1 of gpt is slow".
std::vector<std::string> exceptionsOf(const engine::ClusterSnapshot& snapshot) {
  std::vector<std::string> lines;
  for (const engine::NodeStatus& node : snapshot.nodes) {
    if (node.state != engine::NodeState::kAlive)
      lines.push_back(fmt::format(
          "n{} is {}{}", node.node, paintState(engine::ToString(node.state)),
          node.last_seen > 0 ? fmt::format(", last heard {} ago", formatSpan(node.last_seen))
                             : ""));
    for (const engine::DeviceStatus& device : node.devices) {
      if (device.failed)
        lines.push_back(fmt::format("{} has {}", ptc::ToString(device.id), paintState("failed")));
      else if (device.peers_seconds > 0)
        lines.push_back(fmt::format("{} of {} is {}: {} a step, its peers {}",
                                    ptc::ToString(device.id), device.job, paintState("slow"),
                                    formatSeconds(device.busy_seconds),
                                    formatSeconds(device.peers_seconds)));
    }
  }
  return lines;
}

/// Nodes, GPUs and memory in numbers, then the nodes and GPUs that need attention.
std::string summaryOf(const engine::ClusterSnapshot& snapshot) {
  std::map<engine::NodeState, std::size_t> nodes;
  std::size_t gpus = 0, inJobs = 0, joining = 0, idle = 0, failed = 0, away = 0;
  std::int64_t used = 0, total = 0;
  for (const engine::NodeStatus& node : snapshot.nodes) {
    ++nodes[node.state];
    for (const engine::DeviceStatus& device : node.devices) {
      ++gpus;
      used += device.used_bytes;
      total += device.total_bytes;
      std::size_t& count = device.failed                             ? failed
                           : node.state != engine::NodeState::kAlive ? away
                           : device.joining                          ? joining
                           : device.job.empty()                      ? idle
                                                                     : inJobs;
      ++count;
    }
  }
  std::vector<std::pair<std::string, std::size_t>> states;
  for (const auto& [state, count] : nodes)
    states.emplace_back(paintState(engine::ToString(state)), count);
  std::string text = formatTable(
      {{"nodes", countedText(snapshot.nodes.size(), states)},
       {"GPUs", countedText(gpus, {{"in jobs", inJobs},
                                   {"joining", joining},
                                   {"idle", idle},
                                   {"failed", failed},
                                   {"on nodes that are not alive", away}})},
       {"memory", fmt::format("{} of {} used", formatBytes(used), formatBytes(total))}});
  const std::vector<std::string> lines = exceptionsOf(snapshot);
  for (std::size_t i = 0; i < std::min(lines.size(), kMostProblems); ++i) text += lines[i] + "\n";
  if (lines.size() > kMostProblems)
    text += fmt::format("and {} more; `tesseractl status --all` lists each GPU\n",
                        lines.size() - kMostProblems);
  return text;
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

/// ", simulated: h100, 10 seconds per second".
std::string describeSimulation(const engine::ClusterSnapshot& snapshot) {
  if (!snapshot.simulation) return {};
  const engine::SimulationStatus& simulation = *snapshot.simulation;
  return fmt::format(", simulated: {}, {} s per second{}", simulation.hardware, simulation.speed,
                     simulation.reached < simulation.speed
                         ? fmt::format(" ({} reached)", simulation.reached)
                         : "");
}

std::string describeCluster(const engine::ClusterSnapshot& snapshot) {
  return fmt::format(
      "cluster {}{}{}{}{}\n", snapshot.cluster,
      snapshot.history_problem.empty()
          ? ""
          : fmt::format(", history cannot be written: {}; events wait in memory",
                        snapshot.history_problem),
      describeSimulation(snapshot),
      snapshot.link_bytes_per_second > 0
          ? fmt::format(", links of {} ({})", formatRate(snapshot.link_bytes_per_second),
                        snapshot.simulation ? "simulated" : "emulated")
          : "",
      snapshot.plain_lanes ? ", plain lanes (bulk data is not encrypted)" : "");
}

bool isSummary(const engine::ClusterSnapshot& snapshot, StatusParts parts) {
  if (parts != StatusParts::kUsual) return parts == StatusParts::kSummary;
  std::size_t gpus = 0;
  for (const engine::NodeStatus& node : snapshot.nodes) gpus += node.devices.size();
  return gpus > kMostListedGpus;
}

}  // namespace

std::string describeStatus(const engine::ClusterSnapshot& snapshot, StatusParts parts) {
  std::string text = describeCluster(snapshot);
  if (parts != StatusParts::kJobs) {
    text += "\n" + (isSummary(snapshot, parts) ? summaryOf(snapshot) : deviceTable(snapshot));
    if (const std::string problems = nodeProblemLines(snapshot); !problems.empty())
      text += "\n" + problems;
  }
  if (snapshot.lease)
    text += fmt::format("\noperated in a panel by {}, since {}\n", snapshot.lease->who,
                        formatClock(snapshot.lease->since));
  if (!snapshot.jobs.empty())
    text += "\n" + jobTable(snapshot, false);
  else if (parts == StatusParts::kJobs)
    text += "\nno jobs\n";
  if (const auto& txn = snapshot.transaction; txn && !engine::IsFinal(txn->phase))
    text += fmt::format("\ntransaction {} of {}: {}, {} of {}\n", txn->id, txn->job,
                        paintState(phaseText(*txn, stepSecondsOf(snapshot, txn->job))),
                        formatBytes(txn->bytes_done), formatBytes(txn->bytes_total));
  return text;
}

bool differs(engine::ClusterSnapshot before, engine::ClusterSnapshot now) {
  for (engine::ClusterSnapshot* const snapshot : {&before, &now}) {
    snapshot->sequence = 0;
    snapshot->time = 0;
    for (engine::NodeStatus& node : snapshot->nodes) node.last_seen = 0;
  }
  return before != now;
}

std::string screenOf(const std::string& text, std::size_t numRows, std::size_t numColumns) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  const auto rowsOf = [numColumns](const std::string& line) {
    return 1 + (std::max<std::size_t>(displayWidth(line), 1) - 1) /
                   std::max<std::size_t>(numColumns, 1);
  };
  std::size_t needed = 0;
  for (const std::string& line : lines) needed += rowsOf(line);
  std::string out = "\033[H";
  std::size_t left = numRows > 0 ? numRows - 1 : 0;  // the cursor stays below the text
  std::size_t shown = 0;
  const std::size_t kept = needed <= left || left == 0 ? 0 : 1;  // for the count
  for (; shown < lines.size() && rowsOf(lines[shown]) + kept <= left; ++shown) {
    left -= rowsOf(lines[shown]);
    out += lines[shown] + "\033[K\n";
  }
  if (shown < lines.size())
    out += fmt::format("… {} more\033[K\n",
                       Counted(static_cast<std::int64_t>(lines.size() - shown), "line"));
  return out + "\033[J";
}

}  // namespace tessera::app
