// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The quality of a plan: its busiest port, the lower bounds of all plans, and the bandwidths that
/// convert bytes to seconds.

#include <cstdint>
#include <string>

#include "ptc/certificate/certificate.h"
#include "ptc/topology/topology.h"

namespace tessera::engine {

struct PlanCertificate {
  /// The port that finishes last: "n3 out", "n0g1 in", "rack 2 in"; empty if nothing moves.
  std::string port = {};
  std::int64_t port_bytes = 0;
  double port_seconds = 0;
  /// Lower bound of all plans in which holders send directly to the devices that need the bytes:
  /// bytes through the tightest port.
  std::int64_t direct_bound = 0;
  double direct_seconds = 0;
  /// Lower bound of all plans, including those that relay bytes.
  std::int64_t relayed_bound = 0;
  double relayed_seconds = 0;
  /// Least bytes that must enter hosts over the network, each byte once per host.
  std::int64_t network_bound = 0;
  std::int64_t single_source_bytes = 0;  // needed elsewhere but held by one device only
  /// Bytes per second, assumed or measured. `bandwidths_from` is "assumed", a date or a file.
  double host_bytes_per_second = 0;
  double network_bytes_per_second = 0;
  std::string bandwidths_from = {};

  /// Relative excess of the busiest port over the direct bound: 0.004 is 0.4 %.
  double gap() const { return direct_seconds > 0 ? port_seconds / direct_seconds - 1 : 0; }
  friend bool operator==(const PlanCertificate&, const PlanCertificate&) = default;
};

/// The bounds of `certificate` and the bandwidths of `topology`. Leaves the port empty.
PlanCertificate Summarize(const ptc::Certificate& certificate, const ptc::Topology& topology);
/// The distance of the busiest port from the direct bound: "bound +0.4 %", or "bound" within 0.05 %.
/// A plan with relays can be below that bound; then the distance from the relayed bound: "relay bound
/// +3.0 %".
std::string GapText(const PlanCertificate& certificate);

/// Returns how far the plan is at most above the least possible time of its busiest port, as a
/// fraction of that time: 0 for a plan that is provably the fastest. A plan below the bound of
/// direct moves is compared with the bound of plans that relay.
double GapAboveBound(const PlanCertificate& certificate);

}  // namespace tessera::engine
