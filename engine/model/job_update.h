// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// What the update of one step of a built-in job computes with. Ranks make the update to the state,
/// and agents make the same one to copies of it.

#include <cstdint>

#include "engine/model/gpt.h"
#include "engine/update/adamw.h"

namespace tessera::engine {

/// Coefficients of one step for tensors that decay and for those that do not.
struct UpdateCoefficients {
  AdamWCoefficients with_decay, without_decay;

  /// Matrices decay; biases and norms do not.
  const AdamWCoefficients& Of(std::size_t num_dims) const {
    return num_dims >= 2 ? with_decay : without_decay;
  }
};

/// Of the update of step `step`: the learning rate of the job's schedule, and `clip` of the step's
/// decision.
/// \pre step >= 1
UpdateCoefficients CoefficientsOf(const JobSettings& settings, std::int64_t step, double clip);

}  // namespace tessera::engine
