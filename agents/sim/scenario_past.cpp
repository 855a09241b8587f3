// SPDX-License-Identifier: Apache-2.0
#include "agents/sim/scenario_past.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

namespace tessera::agents::sim {
namespace {

constexpr double kBefore = 30;  // seconds before the first change, if the begin is unknown
constexpr double kReturns = 3;  // seconds before the change that needs it
constexpr double kAfter = 60;   // after the last one

std::set<ptc::DeviceId> SetOf(const ptc::DeviceMesh& mesh) {
  return {mesh.devices().begin(), mesh.devices().end()};
}

/// Starts the lost nodes that a change uses: they must have come back before.
void AddReturns(const ptc::DeviceMesh& to, double at, std::set<std::int32_t>& lost_nodes,
                std::vector<Scenario::Act>& acts) {
  for (const ptc::DeviceId device : to.devices()) {
    if (lost_nodes.erase(device.node) == 0) continue;
    acts.push_back({std::max(0.0, at - kReturns), act::StartNode{device.node}});
  }
}

double Rounded(double seconds) { return std::round(std::max(0.0, seconds) * 1000) / 1000; }

/// The nodes whose devices are all missing in `to`, and the other devices that are.
void AddLosses(const ptc::DeviceMesh& from, const ptc::DeviceMesh& to, double at,
               std::set<std::int32_t>& lost_nodes, std::vector<Scenario::Act>& acts) {
  const std::set<ptc::DeviceId> kept = SetOf(to);
  std::set<std::int32_t> alive, lost;
  for (const ptc::DeviceId device : from.devices()) {
    (kept.contains(device) ? alive : lost).insert(device.node);
  }
  for (const std::int32_t node : lost) {
    if (alive.contains(node)) continue;
    acts.push_back({at, act::KillNode{node}});
    lost_nodes.insert(node);
  }
  for (const ptc::DeviceId device : from.devices()) {
    if (!kept.contains(device) && alive.contains(device.node)) {
      acts.push_back({at, act::FailDevice{device}});
    }
  }
}

}  // namespace

Result<Scenario> ScenarioOf(std::span<const engine::HistoryEntry> changes, const PastFacts& facts) {
  Scenario out;
  out.hardware = facts.hardware;
  out.device_bytes = facts.device_bytes;
  act::Start start;
  start.model = facts.model;
  std::int32_t last_node = 0, last_device = 0;
  double begin = facts.begin, last = 0;
  std::set<std::int32_t> lost_nodes;
  for (const engine::HistoryEntry& change : changes) {
    if (change.result != "committed") continue;
    TESSERA_TRY(const ptc::DeviceMesh from, ptc::ParseDeviceMesh(change.from));
    TESSERA_TRY(const ptc::DeviceMesh to, ptc::ParseDeviceMesh(change.to));
    for (const ptc::DeviceMesh* const mesh : {&from, &to}) {
      for (const ptc::DeviceId device : mesh->devices()) {
        last_node = std::max(last_node, device.node);
        last_device = std::max(last_device, device.index);
      }
    }
    if (start.job.empty()) {
      start.job = change.job;
      start.devices = from.devices();
      start.mesh = from.shape();
      if (begin <= 0 || begin > change.started) begin = change.started - kBefore;
      out.title = fmt::format("{}, from the history", change.job);
    }
    last = Rounded(change.started - begin);
    if (change.requester.empty()) {
      start.on_failure = engine::OnFailure::kShrink;
      AddLosses(from, to, last, lost_nodes, out.acts);
    } else {
      AddReturns(to, last, lost_nodes, out.acts);
      out.acts.push_back({last, act::Apply{change.job, to.devices(), to.shape()}});
    }
  }
  if (start.job.empty()) return NotFound("the history has no change that was committed");
  out.acts.insert(out.acts.begin(), Scenario::Act{0, std::move(start)});
  out.nodes = last_node + 1;
  out.devices = last_device + 1;
  out.end = last + kAfter;
  return out;
}

}  // namespace tessera::agents::sim
