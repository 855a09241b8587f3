// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// What a job of the built-in trainer does with its data when its mesh changes: the right way, and
/// two that are wrong on purpose, so that what they cost can be shown (Tenplex, SOSP 2024, section
/// 2.3, figure 2).

#include <cstdint>
#include <string_view>

#include "engine/data/cursor.h"
#include "ptc/base/result.h"
#include "ptc/mesh.h"

namespace tessera::engine {

struct JobSettings;

enum class AtChange : std::uint8_t {
  kKeep,             // position and global batch stay: no sample is repeated, none left out
  kLosePosition,     // the pass begins anew, as with a data loader that was started again
  kKeepDeviceBatch,  // a data-parallel rank keeps its samples a step: the global batch changes
};
std::string_view ToString(AtChange at_change);  // "keep", "lose_position", "keep_device_batch"
/// \error kInvalidArgument naming what there is
Result<AtChange> ParseAtChange(std::string_view name);
/// What is wrong with such a job, in a few words; empty for kKeep.
std::string_view WrongOnPurpose(AtChange at_change);

/// Where the first step after a change of the mesh reads.
Cursor CursorAfterChange(const Cursor& cursor, AtChange at_change);

/// Samples of a step on `mesh`: the job's global batch, except with kKeepDeviceBatch.
std::int64_t GlobalBatchOn(const JobSettings& settings, const ptc::MeshShape& mesh);
/// Notes what kKeepDeviceBatch keeps: a data-parallel rank's samples a step on the mesh that the
/// job starts on. Nothing for the others.
/// \error kInvalidArgument where the global batch does not divide by dp
Status NoteDeviceBatch(JobSettings& settings, const ptc::MeshShape& mesh);

}  // namespace tessera::engine
