// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The GPUs with which a GPU of a job communicates, by the axes of the mesh.

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "engine/cluster/snapshot.h"
#include "engine/vfs/job_facts.h"
#include "ptc/mesh.h"

namespace tessera::ui {

/// The axes in the order in which the panel names communication groups.
inline constexpr std::array<ptc::Axis, ptc::kNumAxes> kGroupAxes = {
    ptc::Axis::kTp, ptc::Axis::kDp, ptc::Axis::kPp, ptc::Axis::kEp, ptc::Axis::kCp};

/// The ranks that differ in their coordinate along one axis only.
struct JobGroup {
  ptc::Axis axis = ptc::Axis::kTp;
  std::vector<ptc::DeviceId> devices;  // by that coordinate
  /// What they exchange in one step, as engine::GroupBytes counts it; nothing: not known.
  std::optional<std::int64_t> bytes = {};
  friend bool operator==(const JobGroup&, const JobGroup&) = default;
};

/// Returns the groups of `rank` that have several members, in the order of kGroupAxes. Empty if
/// `job` has no devices on its mesh.
/// \param facts settings of the job. The bytes are known only with those of the present layout, and
///     only for the built-in model: other programs decide by themselves what they send.
std::vector<JobGroup> groupsOf(const engine::JobStatus& job, int rank,
                               const engine::vfs::JobFactsPtr& facts);

}  // namespace tessera::ui
