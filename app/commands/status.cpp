// SPDX-License-Identifier: GPL-3.0-or-later
/// \file
/// `status`: nodes, devices, jobs and the transaction under way.

#include <fmt/format.h>

#include "app/commands/command.h"
#include "app/commands/json.h"
#include "app/commands/session.h"
#include "app/commands/units.h"

namespace tessera::app {
namespace {

std::string describe(const engine::DeviceStatus& device) {
  if (device.failed) return "failed";
  if (device.joining) return "joining";
  return device.job.empty() ? "idle" : device.job;
}

std::string orDash(std::string text) { return text.empty() ? "-" : std::move(text); }

std::string deviceTable(const engine::ClusterSnapshot& snapshot) {
  std::vector<std::vector<std::string>> rows = {
      {"node", "state", "device", "used", "total", "job", "rank"}};
  for (const engine::NodeStatus& node : snapshot.nodes) {
    bool first = true;
    for (const engine::DeviceStatus& device : node.devices) {
      rows.push_back({first ? fmt::format("n{}", node.node) : "",
                      first ? std::string(engine::ToString(node.state)) : "",
                      ptc::ToString(device.id), formatBytes(device.used_bytes),
                      formatBytes(device.total_bytes), describe(device),
                      device.rank ? std::to_string(*device.rank) : ""});
      first = false;
    }
    if (node.devices.empty())
      rows.push_back({fmt::format("n{}", node.node), std::string(engine::ToString(node.state))});
  }
  return formatTable(rows, {3, 4, 6});
}

std::string jobTable(const engine::ClusterSnapshot& snapshot) {
  std::vector<std::vector<std::string>> rows = {
      {"job", "state", "step", "loss", "tokens/s", "s/step", "mesh", "options", "epoch", "layout"}};
  for (const engine::JobStatus& job : snapshot.jobs)
    rows.push_back({job.name, std::string(engine::ToString(job.state)), std::to_string(job.step),
                    job.loss ? fmt::format("{:.4f}", *job.loss) : "-",
                    job.tokens_per_second ? fmt::format("{:.0f}", *job.tokens_per_second) : "-",
                    job.step_seconds ? fmt::format("{:.3f}", *job.step_seconds) : "-",
                    job.devices.empty() ? "-" : ptc::ToString(job.mesh),
                    orDash(engine::ToString(job.options)), std::to_string(job.epoch),
                    job.layout_hash});
  std::string text = formatTable(rows, {2, 3, 4, 5, 8});
  for (const engine::JobStatus& job : snapshot.jobs)
    if (!job.command.empty()) text += fmt::format("{}: runs `{}`\n", job.name, job.command);
  for (const engine::JobStatus& job : snapshot.jobs)
    if (!job.at_change.empty())
      text += fmt::format("{}: wrong on purpose: it {}\n", job.name, job.at_change);
  for (const engine::JobStatus& job : snapshot.jobs)
    if (!job.reason.empty()) text += fmt::format("{}: {}\n", job.name, job.reason);
  return text;
}

int run(const Invocation& call) {
  auto session = openSession(call);
  if (!session) return failed(session.error());
  const auto snapshot = session->snapshot();
  if (!snapshot) return failed(snapshot.error());
  if (call.json) {
    printLine(toJson(*snapshot));
    return kDone;
  }
  fmt::print(
      "cluster {}{}\n\n{}", snapshot->cluster,
      snapshot->link_bytes_per_second > 0
          ? fmt::format(", links of {} MB/s (emulated)", snapshot->link_bytes_per_second / 1e6)
          : "",
      deviceTable(*snapshot));
  if (!snapshot->history_problem.empty())
    fmt::print("\nhistory cannot be written: {}\n", snapshot->history_problem);
  if (!snapshot->jobs.empty()) fmt::print("\n{}", jobTable(*snapshot));
  if (const auto& txn = snapshot->transaction; txn && !engine::IsFinal(txn->phase))
    fmt::print("\ntransaction {} of {}: {}, {} of {}\n", txn->id, txn->job,
               engine::ToString(txn->phase), formatBytes(txn->bytes_done),
               formatBytes(txn->bytes_total));
  return kDone;
}

}  // namespace

Command statusCommand() {
  return {{"status", "shows nodes, devices, jobs and the transaction under way", {}, {}, {}}, run};
}

}  // namespace tessera::app
