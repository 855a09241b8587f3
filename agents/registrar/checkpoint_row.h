// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The registrar's journal rows about checkpoints: those that it has saved, and schedules.

#include <cstdint>
#include <map>
#include <string>

#include "engine/cluster/checkpoint_status.h"
#include "ptc/base/result.h"

namespace tessera::agents {

/// JSON.
std::string ToText(const engine::CheckpointEntry& checkpoint);
std::string ToText(const engine::CheckpointSchedule& schedule);
/// The step at which each timeline of a job began.
using Lineage = std::map<std::int64_t, std::int64_t>;
std::string ToText(const Lineage& lineage);
Result<Lineage> ParseLineageRow(const std::string& key, const std::string& text);
/// \error kDataLoss naming the row and what is wrong with it
Result<engine::CheckpointEntry> ParseCheckpointRow(const std::string& key, const std::string& text);
Result<engine::CheckpointSchedule> ParseScheduleRow(const std::string& key,
                                                    const std::string& text);

}  // namespace tessera::agents
