// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Which mesh a job gets when the user names devices but no mesh.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "ptc/base/result.h"
#include "ptc/mesh.h"

namespace tessera::engine {

struct Choice {
  ptc::MeshShape mesh;
  std::vector<ptc::DeviceId> used;  // ascending; mesh.num_ranks() of them
  std::vector<ptc::DeviceId> idle;  // ascending; given but left over
  std::string why;                  // one sentence for a reader who did not choose
  friend bool operator==(const Choice&, const Choice&) = default;
};

/// Whether a job can run a mesh, and if not, why.
using MeshPredicate = std::function<Status(const ptc::MeshShape&)>;

/// Keeps every degree of `current` but dp and takes the largest dp that divides `global_batch`,
/// fits the devices and satisfies `can_run` (empty: all do). Of the devices those of `in_job` are
/// used first, then the lowest. \param devices without duplicates, any order \error
/// kInvalidArgument for an empty device list, global_batch < 1, or too few devices:
///     `1 device cannot hold tp = 2: the smallest set that fits has 2 devices`;
///     the error of `can_run` where it refuses every dp, of the smallest one.
Result<Choice> ChooseMesh(const ptc::MeshShape& current, std::int64_t global_batch,
                          std::vector<ptc::DeviceId> devices,
                          const std::vector<ptc::DeviceId>& in_job = {},
                          const MeshPredicate& can_run = {});

}  // namespace tessera::engine
