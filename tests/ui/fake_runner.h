// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Runs of an experiment that a test controls.

#include <optional>
#include <utility>

#include "ui/lessons/consistency_runner.h"

namespace tessera::test {

class FakeRunner : public ui::ConsistencyRunner {
 public:
  std::optional<engine::ConsistencyResult> kept;
  std::function<void(ui::LessonProgress)> progress;
  std::function<void(Result<engine::ConsistencyResult>)> done;
  int starts = 0, cancels = 0;

  std::optional<engine::ConsistencyResult> last() const override { return kept; }
  void start(std::function<void(ui::LessonProgress)> on_progress,
             std::function<void(Result<engine::ConsistencyResult>)> on_done) override {
    ++starts;
    progress = std::move(on_progress);
    done = std::move(on_done);
  }
  void cancel() override { ++cancels; }

  /// Three runs of `steps` steps with 4 samples, moved after half of them, of which the second
  /// falls below the first and the third stays above.
  static engine::ConsistencyResult Result3(std::int64_t steps) {
    engine::ConsistencyResult result;
    result.setup = {.model = "gpt-nano",
                    .data = "text found on this machine",
                    .steps = steps,
                    .change_at = steps / 2,
                    .global_batch = 4,
                    .sequence = 32,
                    .num_samples = 4 * steps,
                    .held_out = 256,
                    .group = 4,
                    .seed = 1,
                    .learning_rate = 0.005};
    result.seconds = 96;
    result.time = 1.7e9;
    using engine::AtChange;
    for (const auto way : {AtChange::kKeep, AtChange::kLosePosition, AtChange::kKeepDeviceBatch}) {
      engine::ConsistencyRun run;
      run.way = way;
      run.changed_after = steps / 2;
      run.batch_before = 4;
      const bool kept_batch = way == AtChange::kKeepDeviceBatch;
      run.batch_after = kept_batch ? 8 : 4;
      const std::int64_t half = 2 * steps;
      run.read = {{0, half},
                  {way == AtChange::kLosePosition ? 0 : half,
                   way == AtChange::kLosePosition ? half : 2 * half}};
      const std::int64_t last = kept_batch ? steps / 2 + steps / 4 : steps;
      std::int64_t samples = 0;
      for (std::int64_t step = 1; step <= last; ++step) {
        const bool after = step > steps / 2;
        samples += after ? run.batch_after : run.batch_before;
        const double share = static_cast<double>(samples) / static_cast<double>(2 * half);
        const double wave =
            0.02 * static_cast<double>((step * 7919) % 13 - 6);  // of one batch to the next
        const double aside = !after                           ? 0
                             : way == AtChange::kLosePosition ? -0.3 * (share - 0.5)
                             : kept_batch                     ? 0.35 * (share - 0.42)
                                                              : 0;
        run.points.push_back({step, samples, 2.55 + 2.6 / (1 + 12 * share) + aside + wave});
      }
      for (std::int64_t group = 0; group < steps; ++group) {
        const double hard = 2.6 + 0.1 * static_cast<double>(group % 7);  // for all alike
        const double wave = 0.01 * static_cast<double>(group % 3);
        const bool is_first_half = group < steps / 2;
        const double aside = way == AtChange::kLosePosition ? (is_first_half ? -0.06 : 0.04) + wave
                             : kept_batch                   ? 0.05 + wave
                                                            : 0;
        run.pass_losses.push_back(hard + aside);
        run.held_out_losses.push_back(hard + (kept_batch ? 0.05 + wave : 0));
      }
      result.runs.push_back(std::move(run));
    }
    return result;
  }
};

}  // namespace tessera::test
