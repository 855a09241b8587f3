// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/commands/phase_text.h"

#include <fmt/format.h>

#include "app/commands/units.h"

namespace tessera::app {

std::string phaseText(const engine::TxnStatus& txn, std::optional<double> stepSeconds) {
  if (txn.phase == engine::TxnPhase::kPrecopying) {
    if (!txn.reason.empty()) return "prepared";
    std::string text = "copying while training";
    if (txn.legs > 0) text += fmt::format(", step {} of {}", txn.leg, txn.legs);
    if (stepSeconds) text += fmt::format(", at {} a step", formatSeconds(*stepSeconds));
    return text;
  }
  if (txn.round > 0) return fmt::format("round {} of {}", txn.round, txn.rounds);
  return std::string(engine::ToString(txn.phase));
}

std::optional<double> stepSecondsOf(const engine::ClusterSnapshot& snapshot,
                                    const std::string& job) {
  for (const engine::JobStatus& status : snapshot.jobs) {
    if (status.name == job) return status.step_seconds;
  }
  return std::nullopt;
}

}  // namespace tessera::app
