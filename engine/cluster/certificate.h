// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// What a plan says of how good it is: its busiest port beside the bounds that no plan can be
/// below, and the bandwidths that turn bytes into seconds.

#include <cstdint>
#include <string>

#include "ptc/certificate/certificate.h"
#include "ptc/topology/topology.h"

namespace tessera::engine {

struct PlanCertificate {
  /// The port that is done last: "n3 out", "n0g1 in", "rack 2 in"; empty where nothing moves.
  std::string port = {};
  std::int64_t port_bytes = 0;
  double port_seconds = 0;
  /// Least of any plan in which holders send straight to those who need, as bytes through the
  /// tightest port.
  std::int64_t direct_bound = 0;
  double direct_seconds = 0;
  /// Least of any plan, also of those that pass bytes on.
  std::int64_t relayed_bound = 0;
  double relayed_seconds = 0;
  /// Bytes that must cross into hosts at least, each once a host.
  std::int64_t network_bound = 0;
  std::int64_t single_source_bytes = 0;  // needed elsewhere and held by one device only
  /// Assumed or measured, in bytes a second, and which of them: "assumed", a date, a file.
  double host_bytes_per_second = 0;
  double network_bytes_per_second = 0;
  std::string bandwidths_from = {};

  /// How much longer the busiest port is at work than the direct bound: 0.004 is 0.4 per cent.
  double gap() const { return direct_seconds > 0 ? port_seconds / direct_seconds - 1 : 0; }
  friend bool operator==(const PlanCertificate&, const PlanCertificate&) = default;
};

/// The bounds of `certificate` and the bandwidths of `topology`; the plan's port is left open.
PlanCertificate Summarize(const ptc::Certificate& certificate, const ptc::Topology& topology);
/// How far the busiest port is from the direct bound: "bound +0.4 %", "bound" within 0.05 %; or,
/// where it is below that, as only relay can be, from the other: "relay bound +3.0 %".
std::string GapText(const PlanCertificate& certificate);

/// Returns how far the plan is at most above the least possible time of its busiest port, as a
/// fraction of that time: 0 for a plan that is provably the fastest. A plan below the bound of
/// direct moves is compared with the bound of plans that relay.
double GapAboveBound(const PlanCertificate& certificate);

}  // namespace tessera::engine
