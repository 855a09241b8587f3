// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// What a step's update takes from step number and gradient norm: learning rate and clip coefficient.

#include <cstdint>

namespace tessera::engine {

/// Linear warm-up, then half a cosine from `peak` down to `floor` (Loshchilov and Hutter, "SGDR",
/// ICLR 2017, equation 5 without restarts), then `floor` for ever.
struct CosineSchedule {
  double peak = 1e-3, floor = 1e-4;
  std::int64_t warmup_steps = 20, cosine_steps = 2000;  // the warm-up is part of cosine_steps

  /// Learning rate of `step`. \pre step >= 1
  double LearningRate(std::int64_t step) const;
};

/// Factor that brings gradients whose squared norm is `norm2` to at most `max_norm`; 1 where they
/// are inside already, where `max_norm` is 0 (no limit), and where norm2 is not finite.
double ClipCoefficient(double norm2, double max_norm);

}  // namespace tessera::engine
