// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Compares the last states of two runs on the same samples. The training losses of two runs come
/// from different samples, and some samples are harder than others. On the same samples that effect
/// cancels, so a few hundred are enough to distinguish a difference from chance.

#include <cstdint>
#include <optional>

#include "engine/experiment/consistency.h"

namespace tessera::engine {

/// Which samples, as seen by the run that is compared.
enum class Samples : std::uint8_t {
  kReadLast,   // of the pass, after its change
  kNeverRead,  // of the pass
  kHeldOut,    // of neither
};

struct Difference {
  double value = 0;  // mean loss of the run minus that of the right run, nats per token
  double error = 0;  // its standard error, from the choice of samples, not from training
};
/// Compares the losses of the groups that consist of such samples only. nullopt if there are fewer
/// than two, or if the runs were not evaluated on the same ones.
std::optional<Difference> DifferenceOn(Samples samples, const ConsistencyRun& run,
                                       const ConsistencyRun& right, const ConsistencySetup& setup);

enum class Verdict : std::uint8_t { kBelow, kAbove, kNotVisible };
/// Returns kBelow or kAbove if the difference is more than twice its error.
Verdict Judge(const std::optional<Difference>& difference);

/// Returns the mean loss on held-out samples; nullopt if there was no evaluation.
std::optional<double> HeldOutLoss(const ConsistencyRun& run);

}  // namespace tessera::engine
