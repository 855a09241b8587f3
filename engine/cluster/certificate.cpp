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

namespace {

constexpr double kRounding = 1e-9;

bool IsRelayed(const PlanCertificate& certificate) {
  return certificate.port_seconds < certificate.direct_seconds * (1 - kRounding) &&
         certificate.relayed_seconds > 0;
}

}  // namespace

double GapAboveBound(const PlanCertificate& certificate) {
  const double gap = IsRelayed(certificate)
                         ? certificate.port_seconds / certificate.relayed_seconds - 1
                         : certificate.gap();
  return std::abs(gap) < 0.0005 ? 0 : gap;
}

std::string GapText(const PlanCertificate& certificate) {
  const double gap = GapAboveBound(certificate);
  const std::string bound = IsRelayed(certificate) ? "relay bound" : "bound";
  return gap == 0 ? bound : fmt::format("{} {:+.1f} %", bound, 100 * gap);
}

}  // namespace tessera::engine
