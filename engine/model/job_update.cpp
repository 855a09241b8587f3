// SPDX-License-Identifier: Apache-2.0
#include "engine/model/job_update.h"

#include "engine/update/schedule.h"

namespace tessera::engine {

UpdateCoefficients CoefficientsOf(const JobSettings& settings, std::int64_t step, double clip) {
  const CosineSchedule schedule{.peak = settings.learning_rate,
                                .floor = settings.min_learning_rate,
                                .warmup_steps = settings.warmup_steps,
                                .cosine_steps = settings.cosine_steps};
  const AdamWSettings adamw{.beta1 = settings.beta1,
                            .beta2 = settings.beta2,
                            .epsilon = settings.epsilon,
                            .weight_decay = settings.weight_decay};
  const double learning_rate = schedule.LearningRate(step);
  return {.with_decay = MakeAdamW(adamw, step, learning_rate, clip, true),
          .without_decay = MakeAdamW(adamw, step, learning_rate, clip, false)};
}

}  // namespace tessera::engine
