// SPDX-License-Identifier: Apache-2.0

// Compiled with -ffp-contract=off, as exact_math.cpp.
#include "engine/update/schedule.h"

#include "engine/update/exact_math.h"
#include "ptc/base/check.h"

namespace tessera::engine {

double CosineSchedule::LearningRate(std::int64_t step) const {
  TESSERA_CHECK(step >= 1);
  if (step <= warmup_steps) {
    return peak * static_cast<double>(step) / static_cast<double>(warmup_steps);
  }
  if (step >= cosine_steps) return floor;
  const double progress =
      static_cast<double>(step - warmup_steps) / static_cast<double>(cosine_steps - warmup_steps);
  return floor + (peak - floor) * 0.5 * (1.0 + CosSinOfTurns(progress / 2).cos);
}

}  // namespace tessera::engine
