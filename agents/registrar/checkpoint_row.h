// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The registrar's journal rows about checkpoints: those that it has saved, and schedules.

#include <string>

#include "engine/cluster/checkpoint_status.h"
#include "ptc/base/result.h"

namespace tessera::agents {

/// JSON.
std::string ToText(const engine::CheckpointEntry& checkpoint);
std::string ToText(const engine::CheckpointSchedule& schedule);
/// \error kDataLoss naming the row and what is wrong with it
Result<engine::CheckpointEntry> ParseCheckpointRow(const std::string& key, const std::string& text);
Result<engine::CheckpointSchedule> ParseScheduleRow(const std::string& key,
                                                    const std::string& text);

}  // namespace tessera::agents
