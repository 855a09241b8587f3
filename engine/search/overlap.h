// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Whether a change copies the state while the job computes gradients. Parameters and optimizer
/// state change in the update of a step only, so the state after step k can be copied while the
/// ranks compute the gradients of step k+1 (ViewCopy's observation). In the pause only these
/// gradients move, and the new ranks make the update.

#include <cstdint>
#include <vector>

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
  bool is_recovery = false;
  OverlapWish wish = OverlapWish::kAuto;
};

struct OverlapChoice {
  OverlapPlan plan;
  /// Of a copy over several steps: the tensors of each, ascending. All tensors are in one of them.
  std::vector<std::vector<int>> legs = {};
};

/// Expects of the ways:
/// - plain: the pause of EstimatePause and SecondsOfReplicas;
/// - overlapped: what of the copy does not fit into the gradients of one step, and the pause of a
///   plan that moves f32 gradients of the parameters;
/// - the same over several steps, if the copy does not fit into one: only the pause for the
///   gradients.
/// With kAuto the shortest one is chosen. Any thread.
/// \error kFailedPrecondition with kOn if it is impossible: the reason; those of layout and plan
Result<OverlapChoice> PlanOverlap(const OverlapInput& input);

/// What a device may need during a change with a copy over several steps: beside both states and
/// their gradients there are those of the step before.
std::int64_t DuringFollow(const OverlapInput& input, ptc::DeviceId device);

/// What decides how a copy spreads over steps, in seconds.
struct CopyTimes {
  double state = 0;      // to copy all state
  double gradients = 0;  // to copy all gradients
  double step = 0;       // in which copies may run
};
/// Each step copies tensors, and the gradients of those that were copied before. A parameter and
/// its optimizer state are of one step, tensors of the same kind follow each other, so that all
/// stages copy in each step, and what is no parameter is of the last one.
/// \param plan with figures
/// \return the tensors of each step, ascending; empty if it would take too many steps, because the
///     gradients leave no time for more
std::vector<std::vector<int>> SpreadOverSteps(const ptc::Outline& plan, const ptc::Layout& from,
                                              const ptc::Layout& to, const CopyTimes& times);

}  // namespace tessera::engine
