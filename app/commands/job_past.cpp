// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/commands/job_past.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "agents/sim/scenario_past.h"
#include "app/commands/past.h"

namespace tessera::app {

Result<agents::sim::Scenario> scenarioOfJob(Session& session, const std::string& job,
                                            const JobPastOptions& options) {
  TESSERA_TRY(const auto snapshot, session.snapshot());
  std::vector<engine::HistoryEntry> changes;
  engine::TransactionQuery query;
  query.job = job;
  TESSERA_RETURN_IF_ERROR(forEach(session, query, [&](const engine::HistoryEntry& change) {
    changes.push_back(change);
    return OkStatus();
  }));
  std::ranges::sort(changes, {}, &engine::HistoryEntry::id);
  agents::sim::PastFacts facts;
  const auto live = std::ranges::find(snapshot.jobs, job, &engine::JobStatus::name);
  if (live != snapshot.jobs.end()) facts.model = live->model;
  if (!options.model.empty()) facts.model = options.model;
  if (facts.model.empty())
    return InvalidArgument(
        fmt::format("job '{}' has ended, so its model is unknown: give --model", job));
  if (!options.hardware.empty())
    facts.hardware = options.hardware;
  else if (snapshot.simulation)
    facts.hardware = snapshot.simulation->hardware;
  for (const engine::NodeStatus& node : snapshot.nodes)
    if (!node.devices.empty()) facts.device_bytes = node.devices.front().total_bytes;
  TESSERA_TRY(const auto first, Past(session).ask(engine::SampleQuery{.job = job, .limit = 1}));
  if (!first.empty()) facts.begin = first.front().time;
  return agents::sim::ScenarioOf(changes, facts);
}

}  // namespace tessera::app
