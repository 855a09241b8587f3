// SPDX-License-Identifier: Apache-2.0
#include "engine/cluster/metrics.h"

#include <fmt/format.h>

namespace tessera::engine {

Status CheckMetrics(const Metrics& metrics) {
  if (metrics.size() > kMaxMetrics) {
    return InvalidArgument(fmt::format("{} metrics, {} are allowed", metrics.size(), kMaxMetrics));
  }
  for (const auto& [name, value] : metrics) {
    if (!IsMetricName(name))
      return InvalidArgument(fmt::format("'{}' is no name of a metric", name));
  }
  return OkStatus();
}

}  // namespace tessera::engine
