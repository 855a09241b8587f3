// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// `plan --model …`: the schedule of a plan, with or without relay, in rounds that stay within a
/// memory budget.

#include <optional>
#include <string>

#include "app/commands/json.h"
#include "app/commands/offline_layouts.h"
#include "engine/cluster/certificate.h"
#include "ptc/schedule/schedule.h"

namespace tessera::app {

/// A schedule consists of single moves, which are too many on large clusters.
inline constexpr std::int64_t kMostScheduledPieces = 200'000;

struct OfflineSchedule {
  std::int64_t numPieces = 0;      // of both layouts, on all devices
  std::int64_t networkDirect = 0;  // bytes between hosts if all were sent directly
  std::int64_t memoryBudget = 0;   // per device; 0: no limit
  std::int64_t storage = 0;        // bytes that the plan reads from storage
  /// None above kMostScheduledPieces, or if bytes come from storage: a schedule covers only bytes
  /// that devices send each other.
  std::optional<ptc::Schedule> schedule = {};
  bool isRelayed() const { return schedule && schedule->network_bytes < networkDirect; }
};

/// `--memory` of a plan.
OptionSpec budgetOption();
/// \error kInvalidArgument naming option and text; kResourceExhausted for a budget that is too
///     small (names device, bytes and budget), or that cannot be checked because there are more
///     than kMostScheduledPieces pieces
Result<OfflineSchedule> makeOfflineSchedule(const Arguments& arguments,
                                            const OfflineLayouts& layouts,
                                            const ptc::PlanBytes& bytes);

/// The lines for the plan's text. The bounds are those of `certificate`.
std::string describe(const OfflineSchedule& schedule, const engine::PlanCertificate& certificate);
/// The keys `relay` and `schedule` of the plan's document.
Json toJson(const OfflineSchedule& schedule, const engine::PlanCertificate& certificate);

}  // namespace tessera::app
