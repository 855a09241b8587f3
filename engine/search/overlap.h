// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Whether a change copies the state while the job computes gradients. Parameters and optimizer
/// state change in the update of a step only, so the state after step k can be copied while the
/// ranks compute the gradients of step k+1 (ViewCopy's observation). In the pause only these
/// gradients move, and the new ranks make the update.

#include <cstdint>

#include "engine/cluster/snapshot.h"
#include "engine/search/propose.h"
#include "ptc/layout.h"
#include "ptc/plan/outline.h"

namespace tessera::engine {

class MemoryNeeds;

enum class OverlapWish : std::uint8_t { kAuto, kOn, kOff };

struct OverlapInput {
  const SearchInput* job = nullptr;  // with its layout and its options
  const ptc::Layout* to = nullptr;
  const ptc::Outline* plan = nullptr;  // of the state, with figures
  MemoryNeeds* needs = nullptr;        // of the plan
  StepOptions to_options = {};
  bool is_paused = false;
  bool is_recovery = false;
  OverlapWish wish = OverlapWish::kAuto;
};

/// Expects of both ways:
/// - plain: the pause of EstimatePause;
/// - overlapped: what of the copy does not fit into the gradients of one step, and the pause of a
///   plan that moves f32 gradients of the parameters.
/// With kAuto the shorter one is chosen. Any thread.
/// \error kFailedPrecondition with kOn if it is impossible: the reason; those of layout and plan
Result<OverlapPlan> PlanOverlap(const OverlapInput& input);

}  // namespace tessera::engine
