// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// `plan --model …`: when the bytes of a plan would move, with or without relay and in rounds that
/// keep to a memory budget.

#include <optional>
#include <string>

#include "app/commands/json.h"
#include "app/commands/offline_layouts.h"
#include "engine/cluster/certificate.h"
#include "ptc/schedule/schedule.h"

namespace tessera::app {

/// A schedule is made of single moves, of which large clusters have too many.
inline constexpr std::int64_t kMostScheduledPieces = 200'000;

struct OfflineSchedule {
  std::int64_t numPieces = 0;                  // of both layouts, on all devices
  std::int64_t networkDirect = 0;              // bytes between hosts if all were sent straight
  std::int64_t memoryBudget = 0;               // of each device; 0: no limit
  std::int64_t storage = 0;                    // bytes that the plan reads from there
  /// None above kMostScheduledPieces, or where bytes come from storage: rounds are for what devices
  /// send each other.
  std::optional<ptc::Schedule> schedule = {};
  bool isRelayed() const { return schedule && schedule->network_bytes < networkDirect; }
};

/// --memory, as a plan takes it.
OptionSpec budgetOption();
/// \error kInvalidArgument naming option and text; kResourceExhausted for a budget that is too
///     small (names device, bytes and budget), or that cannot be looked at because there are more
///     than kMostScheduledPieces
Result<OfflineSchedule> makeOfflineSchedule(const Arguments& arguments,
                                            const OfflineLayouts& layouts,
                                            const ptc::PlanBytes& bytes);

/// Lines of the plan's text and keys of its object; the bounds are those of `certificate`.
std::string describe(const OfflineSchedule& schedule, const engine::PlanCertificate& certificate);
/// `relay` and `schedule`.
Json toJson(const OfflineSchedule& schedule, const engine::PlanCertificate& certificate);

}  // namespace tessera::app
