// SPDX-License-Identifier: Apache-2.0
#include "engine/cluster/certificate.h"

#include <fmt/format.h>

#include <cmath>

namespace tessera::engine {

PlanCertificate Summarize(const ptc::Certificate& certificate, const ptc::Topology& topology) {
  PlanCertificate out;
  out.direct_bound = certificate.direct.bytes;
  out.direct_seconds = certificate.direct.seconds;
  out.relayed_bound = certificate.relayed.bytes;
  out.relayed_seconds = certificate.relayed.seconds;
  out.network_bound = certificate.network_volume;
  out.single_source_bytes = certificate.single_source_bytes;
  out.host_bytes_per_second = topology.host_bytes_per_second;
  out.network_bytes_per_second = topology.network_bytes_per_second;
  out.bandwidths_from = topology.source;
  return out;
}

std::string GapText(const PlanCertificate& certificate) {
  const double percent = 100 * certificate.gap();
  return std::abs(percent) < 0.05 ? "bound" : fmt::format("bound {:+.1f} %", percent);
}

}  // namespace tessera::engine
