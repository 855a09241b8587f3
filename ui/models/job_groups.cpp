// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/job_groups.h"

#include "engine/search/group_traffic.h"
#include "ui/models/device_names.h"

namespace tessera::ui {
namespace {

/// The distance of neighbours along an axis; ranks are row-major over kAxes.
std::int64_t strideOf(const ptc::MeshShape& shape, ptc::Axis axis) {
  std::int64_t stride = 1;
  for (auto each = ptc::kAxes.rbegin(); *each != axis; ++each) stride *= shape[*each];
  return stride;
}

/// The settings of the job, if a group's bytes can be computed from them.
std::optional<engine::JobSettings> settingsOf(const engine::JobStatus& job,
                                              const engine::vfs::JobFactsPtr& facts) {
  if (!facts || facts->info.epoch != job.epoch || facts->info.layout.mesh().shape() != job.mesh)
    return std::nullopt;
  auto settings = engine::ParseJobSettings(facts->info.settings_json);
  if (!settings || settings->program) return std::nullopt;
  if (!engine::CheckMesh(*settings, job.mesh, job.options)) return std::nullopt;
  return std::move(*settings);
}

}  // namespace

std::vector<JobGroup> groupsOf(const engine::JobStatus& job, int rank,
                               const engine::vfs::JobFactsPtr& facts) {
  std::vector<JobGroup> groups;
  if (rank < 0 || job.mesh.num_ranks() != std::ssize(job.devices) ||
      rank >= std::ssize(job.devices)) {
    return groups;
  }
  const auto settings = settingsOf(job, facts);
  for (const ptc::Axis axis : kGroupAxes) {
    if (job.mesh[axis] == 1) continue;
    JobGroup group{.axis = axis, .devices = {}};
    const std::int64_t stride = strideOf(job.mesh, axis);
    const std::int64_t first = rank - coordinate(job.mesh, rank, axis) * stride;
    for (std::int64_t i = 0; i < job.mesh[axis]; ++i)
      group.devices.push_back(job.devices[static_cast<std::size_t>(first + i * stride)]);
    if (settings) group.bytes = engine::GroupBytes(*settings, job.mesh, job.options, rank, axis);
    groups.push_back(std::move(group));
  }
  return groups;
}

}  // namespace tessera::ui
