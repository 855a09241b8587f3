// SPDX-License-Identifier: Apache-2.0
#include "agents/job/decision.h"

#include <algorithm>
#include <cmath>

namespace tessera::agents {

tessera_decision Decide(std::int64_t step, std::span<const tessera_record> records,
                        double max_norm) {
  tessera_decision decision{};
  decision.step = step;
  for (const tessera_record& record : records) {
    decision.loss += record.loss;
    decision.norm2 += record.norm2;
    decision.tokens += record.tokens;
    decision.found_inf |= static_cast<std::int64_t>(record.found_inf != 0);
    decision.pause = std::max(decision.pause, record.request);
  }
  if (!std::isfinite(decision.norm2)) decision.found_inf = 1;
  decision.skip = decision.found_inf != 0 ? 1 : 0;
  decision.clip = 1;
  if (max_norm > 0 && decision.skip == 0) {
    decision.clip = std::min(1.0, max_norm / (std::sqrt(decision.norm2) + 1e-6));
  }
  return decision;
}

}  // namespace tessera::agents
