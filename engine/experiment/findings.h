// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The findings of an experiment, in sentences that claim only what was measured: a difference is
/// stated only if Judge finds one.

#include <string>
#include <vector>

#include "engine/experiment/consistency.h"

namespace tessera::engine {

/// Returns some sentences per run, those of the right one first.
std::vector<std::string> Findings(const ConsistencyResult& result);

}  // namespace tessera::engine
