// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// How a job of the built-in trainer treats its data when its mesh changes: the correct way, and
/// two wrong ones that show what such mistakes cost (Tenplex, SOSP 2024, section 2.3, figure 2).

#include <cstdint>
#include <string_view>

#include "engine/data/cursor.h"
#include "ptc/base/result.h"
#include "ptc/mesh.h"

namespace tessera::engine {

struct JobSettings;

enum class AtChange : std::uint8_t {
  kKeep,             // position and global batch stay: no sample is repeated or left out
  kLosePosition,     // the pass starts again, as with a data loader that was restarted
  kKeepDeviceBatch,  // a data-parallel rank keeps its samples per step, so the global batch changes
};
std::string_view ToString(AtChange at_change);  // "keep", "lose_position", "keep_device_batch"
/// \error kInvalidArgument naming the values
Result<AtChange> ParseAtChange(std::string_view name);
/// Describes what is wrong with such a job; empty for kKeep.
std::string_view WrongOnPurpose(AtChange at_change);

/// Returns the position at which the first step after a change of the mesh reads.
Cursor CursorAfterChange(const Cursor& cursor, AtChange at_change);

/// Returns the samples of a step on `mesh`: the global batch of the job, except with
/// kKeepDeviceBatch.
std::int64_t GlobalBatchOn(const JobSettings& settings, const ptc::MeshShape& mesh);
/// For kKeepDeviceBatch, stores in `settings` the samples per step of a data-parallel rank on the
/// mesh on which the job starts. Does nothing for the other values.
/// \error kInvalidArgument if the global batch is not divisible by dp
Status NoteDeviceBatch(JobSettings& settings, const ptc::MeshShape& mesh);

}  // namespace tessera::engine
