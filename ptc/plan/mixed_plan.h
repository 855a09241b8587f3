// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The plan from a mixed layout to one layout: one outline for each part. The parts are planned one
/// by one, so that their ports are not balanced together.

#include <cstdint>
#include <span>
#include <vector>

#include "ptc/plan/mixed_layout.h"
#include "ptc/plan/outline.h"
#include "ptc/plan/plan.h"

namespace tessera::ptc {

struct MixedPlan {
  std::vector<Outline> outlines;  // by part
  std::uint64_t hash = 0;         // of all outlines and of the tensors of each part
};

/// A pure function of its inputs. `options.only` and `options.relaying` are not used.
/// \error as MakeOutline
Result<MixedPlan> MakeMixedPlan(const MixedLayout& from, const Layout& to, const Topology& topology,
                                const PlanOptions& options);

/// As the function of that name for an outline.
/// \pre `plan` is MakeMixedPlan(from, to, …); `devices` are ascending
DeviceMoves MovesOf(const MixedPlan& plan, const MixedLayout& from, const Layout& to,
                    std::span<const DeviceId> devices);

/// Sums the parts. Time and busiest port are those of the part that takes longest, the hash is that
/// of the plan. from_hash is 0, because the parts come from several layouts.
PlanFigures FiguresOf(const MixedPlan& plan);

/// As the function of that name for an outline.
std::vector<DeviceFlow> DeviceFlows(const MixedPlan& plan);

}  // namespace tessera::ptc
