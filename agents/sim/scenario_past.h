// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// A scenario that repeats what a job has been through.

#include <span>
#include <string>

#include "agents/sim/scenario.h"

namespace tessera::agents::sim {

/// What the history does not say.
struct PastFacts {
  std::string model;  // "gpt-mini"
  std::string hardware = "h100";
  std::int64_t device_bytes = 0;  // 0: as the hardware has them
  double begin = 0;  // of the job, wall clock; 0: half a minute before its first change
};

/// The job starts on the GPUs of its first change. Changes that a user requested and that were
/// committed are applied at the same distance of time. Those that the job made by itself, because
/// it had lost nodes or GPUs, become the loss: the job is started with on-failure shrink then.
/// \param changes of one job, oldest first
/// \error kNotFound without a change that was committed; those of meshes that cannot be read
Result<Scenario> ScenarioOf(std::span<const engine::HistoryEntry> changes, const PastFacts& facts);

}  // namespace tessera::agents::sim
