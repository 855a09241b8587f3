// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// What a plan costs, as people see it: the part of a PlanSummary that follows from layouts and
/// plan alone.

#include <vector>

#include "engine/cluster/snapshot.h"
#include "ptc/layout.h"
#include "ptc/plan/mixed_plan.h"
#include "ptc/plan/outline.h"
#include "ptc/topology/topology.h"

namespace tessera::engine {

/// Meshes, bytes by class, certificate, busiest port, pause, flows. Leaves out job, epoch, options,
/// hash, memory and step times.
/// \param lost devices of `from` whose state is of no use
PlanSummary SummarizePlan(const ptc::Layout& from, const ptc::Layout& to, const ptc::Outline& plan,
                          const ptc::Topology& topology, const std::vector<ptc::DeviceId>& lost);
/// The same of a plan from what a move in rounds has left. Its parts are planned one by one, so it
/// has no certificate.
/// \param from the layout that the rounds were to reach
PlanSummary SummarizePlan(const ptc::Layout& from, const ptc::Layout& to,
                          const ptc::MixedPlan& plan);

}  // namespace tessera::engine
