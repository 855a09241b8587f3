// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/commands/loss_choices.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <set>
#include <vector>

#include "app/commands/units.h"

namespace tessera::app {
namespace {

std::string sourceOf(const engine::RecoveryWay& way) {
  switch (way.source) {
    case engine::RecoverySource::kReplicas:
      return "replicas";
    case engine::RecoverySource::kSnapshot:
      return fmt::format("snapshot of step {}", way.step);
    case engine::RecoverySource::kCheckpoint:
      return fmt::format("checkpoint of step {}", way.step);
  }
  return {};
}

std::string survivalOf(const engine::RecoveryWay& way) {
  if (!way.survival) return "-";
  if (way.survival->of_any_node()) return "survived";
  return fmt::format("n{} would lose {}", way.survival->node, formatBytes(way.survival->bytes));
}

/// "layers 1-2, 5 and wte.weight"; empty if nothing is missing.
std::string missingOf(const engine::DecisionStatus& decision) {
  std::vector<std::string> layers;
  for (const engine::LayerRange& range : decision.missing_layers)
    layers.push_back(range.first == range.last ? std::to_string(range.first)
                                               : fmt::format("{}-{}", range.first, range.last));
  const bool isOne =
      layers.size() == 1 && decision.missing_layers[0].first == decision.missing_layers[0].last;
  std::string text;
  if (!layers.empty()) text = fmt::format("layer{} {}", isOne ? "" : "s", fmt::join(layers, ", "));
  if (!decision.missing_others.empty())
    text +=
        fmt::format("{}{}", text.empty() ? "" : " and ", fmt::join(decision.missing_others, ", "));
  return text;
}

/// What happens without a choice.
std::string defaultOf(const engine::DecisionStatus& decision) {
  if (decision.chosen == engine::LossChoice::kWait) return "it waits for the lost GPUs";
  if (decision.chosen) return "it continues";
  if (decision.seconds_left)
    return fmt::format("it continues by itself in {:.0f} s", std::ceil(*decision.seconds_left));
  if (decision.can_continue()) return "it waits for a choice";
  return "it cannot continue: " + decision.why_not;
}

}  // namespace

Result<DecideWord> parseDecideWord(std::string_view word) {
  using engine::RecoverySource;
  for (const RecoverySource source : {RecoverySource::kSnapshot, RecoverySource::kCheckpoint})
    if (word == engine::ToString(source)) return DecideWord{engine::LossChoice::kContinue, source};
  TESSERA_TRY(const auto choice, engine::ParseLossChoice(word));
  return DecideWord{choice};
}

std::string describeChoices(const engine::JobStatus& job) {
  const engine::DecisionStatus& decision = *job.decision;
  std::string text = fmt::format("{}: {}", job.name, decision.reason);
  if (decision.missing_bytes > 0)
    text += fmt::format("; {} of its state have no other copy in memory: {}",
                        formatBytes(decision.missing_bytes), missingOf(decision));
  text += "\n" + defaultOf(decision) + "\n";
  std::vector<std::vector<std::string>> rows = {
      {"choice", "from", "mesh", "GPUs", "moves", "steps lost", "takes", "loss of any node"}};
  for (const engine::RecoveryWay& way : decision.ways)
    rows.push_back({rows.size() == 1 ? "continue" : std::string(engine::ToString(way.source)),
                    sourceOf(way), ptc::ToString(way.mesh), std::to_string(way.devices.size()),
                    formatBytes(way.moved_bytes), std::to_string(way.steps_lost),
                    way.seconds ? formatSeconds(*way.seconds) : "-", survivalOf(way)});
  if (!decision.awaited.empty()) {
    std::set<std::string> nodes;
    for (const ptc::DeviceId device : decision.awaited)
      nodes.insert(fmt::format("n{}", device.node));
    rows.push_back({"wait", fmt::format("{}, if back", fmt::join(nodes, ", ")),
                    ptc::ToString(job.mesh), std::to_string(job.devices.size()), "-",
                    decision.missing_bytes == 0 ? "0" : "-", "-", "-"});
  }
  if (rows.size() > 1) text += formatTable(rows, {3, 4, 5, 6});
  return text;
}

}  // namespace tessera::app
