// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// What an experiment showed, in sentences that claim only what was measured.

#include <string>
#include <vector>

#include "engine/experiment/consistency.h"

namespace tessera::engine {

/// How the losses of a run at the end lie to the right one's.
enum class Verdict : std::uint8_t { kBelow, kAbove, kNotVisible };
/// By DifferenceAtEnd: below or above where it is more than twice its standard error. \pre neither
/// is the same
Verdict Compare(const ConsistencyRun& run, const ConsistencyRun& right);

/// A sentence or a few a run, those of the right one first.
std::vector<std::string> Findings(const ConsistencyResult& result);

}  // namespace tessera::engine
