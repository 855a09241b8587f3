// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Explains in one sentence why a configuration is recommended.

#include <optional>
#include <string>
#include <vector>

#include "engine/cluster/snapshot.h"

namespace tessera::engine {

/// \param candidates the planned ones, in any order, one of them recommended
/// \param now estimated step time of the current mesh; nullopt if the job is not started
/// \param keeps whether the recommended one keeps all degrees but dp
/// \return one sentence with a full stop; empty if none is recommended
std::string WhyText(const std::vector<Candidate>& candidates, std::optional<double> now,
                    bool keeps);

/// "n0g1 stays idle", "n0g1 and n0g2 stay idle", "n0g1, n0g2 and n0g3 stay idle"; only their number
/// if there are more than eight.
std::string IdleText(const std::vector<ptc::DeviceId>& idle);

}  // namespace tessera::engine
