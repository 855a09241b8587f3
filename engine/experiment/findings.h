// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// What an experiment showed, in sentences that claim only what was measured.

#include <string>
#include <vector>

#include "engine/experiment/consistency.h"

namespace tessera::engine {

/// How the losses of a run after the change lie to the right one's.
enum class Verdict : std::uint8_t { kBelow, kAbove, kNotVisible };
/// By the means of the steps' losses after the change, over as many samples: below or above where
/// they differ by more than twice the standard error of their difference. \pre neither is the same
Verdict Compare(const ConsistencyRun& run, const ConsistencyRun& right);

/// A sentence or a few a run, those of the right one first.
std::vector<std::string> Findings(const ConsistencyResult& result);

}  // namespace tessera::engine
