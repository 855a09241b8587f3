// SPDX-License-Identifier: Apache-2.0
#include "agents/node/output_events.h"

#include <fmt/format.h>

namespace tessera::agents {

void OutputEvents::Add(const std::string& source, const std::string& line,
                       Allowance::Clock::time_point now) {
  if (!allowance_.Take(now)) {
    return world_.log_line(
        fmt::format("{} {}: {}", ToString(engine::Severity::kInfo), source, line));
  }
  if (const std::int64_t left_out = allowance_.TakeDropped(); left_out > 0) {
    uplink_.ReportNodeEvent(engine::Severity::kInfo,
                            fmt::format("{} lines of ranks are in `job logs` only", left_out));
  }
  uplink_.ReportEvent(engine::Severity::kInfo, source, line);
}

}  // namespace tessera::agents
