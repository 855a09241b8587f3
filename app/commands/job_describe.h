// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// Everything that is known of one job, for `job describe`.

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "app/commands/json.h"
#include "engine/cluster/snapshot.h"

namespace tessera::app {

/// \param changes of the job, newest first
std::string describeJob(const engine::ClusterSnapshot& snapshot, const engine::JobStatus& job,
                        const std::vector<engine::HistoryEntry>& changes);

/// The keys of the job in `status`, and `nodes`, `transaction` and `changes`.
Json jobDocument(const engine::ClusterSnapshot& snapshot, const engine::JobStatus& job,
                 const std::vector<engine::HistoryEntry>& changes);

}  // namespace tessera::app
