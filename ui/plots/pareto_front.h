// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The Pareto front of configurations by step time and pause.

#include <vector>

#include "engine/cluster/snapshot.h"

namespace tessera::ui {

/// Returns the pause of the job for a candidate; 0 for the running one, which moves nothing.
double moveSeconds(const engine::Candidate& candidate);

/// Returns the indices, by step time, of the candidates that fit and that no other candidate beats
/// in both step time and pause.
std::vector<int> paretoFront(const std::vector<engine::Candidate>& candidates);

}  // namespace tessera::ui
