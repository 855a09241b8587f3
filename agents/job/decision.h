// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The step decision: a function of the records of all ranks.

#include <cstdint>
#include <span>

#include "agents/job/tessera_job.h"

namespace tessera::agents {

/// Sums, OR and MAX of `records` in rank order, so equal records give equal bits on every rank.
/// clip = min(1, max_norm / (sqrt(norm2) + 1e-6)), 1 where `max_norm` is 0 (as
/// torch.nn.utils.clip_grad_norm_). A norm that is not finite counts as found_inf.
tessera_decision Decide(std::int64_t step, std::span<const tessera_record> records,
                        double max_norm);

}  // namespace tessera::agents
