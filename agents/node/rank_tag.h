// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The tag that the keeper stores with the process of a rank. It identifies the rank to a later
/// agent of the node.

#include <string>
#include <utility>

#include "agents/job/rank_protocol.h"
#include "agents/job/rank_view.h"
#include "ptc/base/result.h"

namespace tessera::agents {

/// `started`: the epoch and attempt that the process is started for.
std::string TagOf(const RankId& id, const Attempt& started);
/// \error kDataLoss naming the tag; as ptc::ParseDevice
Result<std::pair<RankId, Attempt>> ParseTag(const std::string& tag);

}  // namespace tessera::agents
