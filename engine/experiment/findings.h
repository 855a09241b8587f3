// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// What an experiment showed, in sentences that claim only what was measured: a difference is one
/// where Judge says so.

#include <string>
#include <vector>

#include "engine/experiment/consistency.h"

namespace tessera::engine {

/// A sentence or a few a run, those of the right one first.
std::vector<std::string> Findings(const ConsistencyResult& result);

}  // namespace tessera::engine
