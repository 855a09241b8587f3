// SPDX-License-Identifier: Apache-2.0
#include "agents/registrar/snapshot_forecast.h"

#include <fmt/format.h>

#include "engine/search/fit.h"
#include "engine/store/view_plan.h"
#include "ptc/base/counted.h"

namespace tessera::agents {

std::optional<std::int32_t> GuestOf(const std::set<std::int32_t>& nodes,
                                    const std::set<std::int32_t>& alive) {
  if (nodes.size() != 1) return std::nullopt;
  const std::int32_t own = *nodes.begin();
  for (auto next = alive.upper_bound(own); next != alive.end(); ++next) return *next;
  if (alive.empty() || *alive.begin() == own) return std::nullopt;
  return *alive.begin();
}

SnapshotForecast ForecastSnapshots(const ptc::Layout& layout, std::optional<std::int32_t> guest) {
  const engine::ViewPlan plan = engine::ViewPlan::OfSnapshot(layout, guest);
  SnapshotForecast out{{plan.total_bytes(), std::ssize(plan.bytes_of_node()), 0, 0},
                       plan.bytes_of_node()};
  for (const auto& [node, bytes] : out.bytes_of_node) {
    if (2 * bytes <= out.memory.peak_bytes) continue;
    out.memory.peak_bytes = 2 * bytes;
    out.memory.peak_node = node;
  }
  return out;
}

std::string ToText(const engine::SnapshotMemory& memory) {
  return fmt::format("each takes {} on {}, up to {} on n{} while the next is taken",
                     engine::BytesText(memory.bytes), Counted(memory.num_nodes, "node"),
                     engine::BytesText(memory.peak_bytes), memory.peak_node);
}

std::string LackOfMemory(const SnapshotForecast& forecast, const Membership& members, int copies) {
  struct Machine {
    std::string nodes;
    std::int64_t needed = 0, available = 0;
  };
  std::map<std::string, Machine> machines;
  for (const auto& [number, bytes] : forecast.bytes_of_node) {
    const Membership::Node* node = members.Find(number);
    if (!node || node->memory_available <= 0) continue;
    Machine& machine = machines[node->machine];
    machine.nodes += fmt::format("{}n{}", machine.nodes.empty() ? "" : ", ", number);
    machine.needed += copies * bytes;
    machine.available = node->memory_available;
  }
  std::string text;
  for (const auto& [name, machine] : machines) {
    if (machine.needed <= machine.available) continue;
    text += fmt::format("{}the machine of {} has {} left, and they need {} there",
                        text.empty() ? "" : "; ", machine.nodes,
                        engine::BytesText(machine.available), engine::BytesText(machine.needed));
  }
  return text;
}

}  // namespace tessera::agents
