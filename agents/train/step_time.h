// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Steps that take a given time at least, for people and tests that watch a job.

#include <chrono>

#include "ptc/base/result.h"

namespace tessera::agents::train {

using StepTime = std::chrono::duration<double>;  // seconds

/// What the variable TESSERA_STEP_TIME demands of each step of this process; 0 without it.
/// \return InvalidArgument if it is not a number of seconds from 0 to 3,600
Result<StepTime> LeastStepTime();

}  // namespace tessera::agents::train
