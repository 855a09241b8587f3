// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// How long a reconfiguration will keep a job standing: the figure shown before anybody agrees.

#include <cstdint>

#include "ptc/plan/plan.h"
#include "ptc/tensor_spec.h"

namespace tessera::engine {

/// What a pause costs beside the transfer. The rates are those of one core; the defaults are
/// rounded from tests/bench/copy_bench (16 MiB cells of f32). fixed_seconds is an assumption: give
/// the median of past pauses of the same cluster where there are any.
struct PauseCosts {
  /// Messages, journals, the decision, new groups taken into use: no matter how much is moved.
  double fixed_seconds = 0.1;
  /// Repacking on a device: copies in short runs.
  double repack_bytes_per_second = 5e9;
  /// Digests of the whole state, before and after, on each device.
  double digest_bytes_per_second = 5e9;
};

/// fixed + max(network, host) + passed on + repack + digests, where
/// - network: the most bytes that cross one node's port in one direction, at the network's rate;
/// - host: the most bytes that one device sends or receives inside its host, at the host's rate;
/// - passed on: the same of what is forwarded, which waits for all else;
/// - repack: the most bytes that one device copies to itself;
/// - digests: the largest state of one device, before and after.
/// Network and host run side by side. The copy of a moved cell and its digest are one pass.
/// \pre `plan` leads from `from` to `to`
/// \return seconds
double EstimatePause(const ptc::Plan& plan, const ptc::Layout& from, const ptc::Layout& to,
                     const ptc::Topology& topology, const PauseCosts& costs = {});

}  // namespace tessera::engine
