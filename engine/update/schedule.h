// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The learning rate as a function of the step.

#include <cstdint>

namespace tessera::engine {

/// Linear warm-up to `peak`, then half a cosine from `peak` down to `floor` (Loshchilov and Hutter,
/// "SGDR", ICLR 2017, equation 5 without restarts), then `floor`.
struct CosineSchedule {
  double peak = 1e-3, floor = 1e-4;
  std::int64_t warmup_steps = 20, cosine_steps = 2000;  // the warm-up is part of cosine_steps

  /// Returns the learning rate of `step`, the same bits on every machine.
  /// \pre step >= 1
  double LearningRate(std::int64_t step) const;
};

}  // namespace tessera::engine
