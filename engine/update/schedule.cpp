// SPDX-License-Identifier: Apache-2.0
#include "engine/update/schedule.h"

#include <cmath>
#include <numbers>

namespace tessera::engine {

double CosineSchedule::LearningRate(std::int64_t step) const {
  if (step <= warmup_steps) {
    return peak * static_cast<double>(step) / static_cast<double>(warmup_steps);
  }
  if (step >= cosine_steps) return floor;
  const double progress =
      static_cast<double>(step - warmup_steps) / static_cast<double>(cosine_steps - warmup_steps);
  return floor + (peak - floor) * 0.5 * (1.0 + std::cos(std::numbers::pi * progress));
}

}  // namespace tessera::engine
