// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// How the last states of two runs do on the same samples. Training losses of two runs are of other
/// samples, and some are harder than others; of equal samples that cancels, and so a few hundred
/// are enough to tell a difference from chance.

#include <cstdint>
#include <optional>

#include "engine/experiment/consistency.h"

namespace tessera::engine {

/// Which samples, as the run has them that is compared.
enum class Samples : std::uint8_t {
  kReadLast,   // of the pass, after its change
  kNeverRead,  // of the pass
  kHeldOut,    // of neither
};

struct Difference {
  double value = 0;  // mean of the run's losses less those of the right one, nats a token
  double error = 0;  // standard error of that: of the choice of samples, not of the training
};
/// Over groups that lie in these samples as a whole; nullopt where there are fewer than two, or
/// where the runs were not evaluated on the same ones.
std::optional<Difference> DifferenceOn(Samples samples, const ConsistencyRun& run,
                                       const ConsistencyRun& right, const ConsistencySetup& setup);

enum class Verdict : std::uint8_t { kBelow, kAbove, kNotVisible };
/// Below or above where the difference is more than twice its error.
Verdict Judge(const std::optional<Difference>& difference);

/// Mean on samples that nobody trains on; nullopt where there was no evaluation.
std::optional<double> HeldOutLoss(const ConsistencyRun& run);

}  // namespace tessera::engine
