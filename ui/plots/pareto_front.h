// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// Which configurations are worth a choice: the Pareto front of step time and move time.

#include <vector>

#include "engine/cluster/snapshot.h"

namespace tessera::ui {

/// How long the job stands still for a candidate; 0 for the one that runs: nothing moves.
double moveSeconds(const engine::Candidate& candidate);

/// Indices of the candidates that fit and that no other one beats in step time and in move time,
/// by step time.
std::vector<int> paretoFront(const std::vector<engine::Candidate>& candidates);

}  // namespace tessera::ui
