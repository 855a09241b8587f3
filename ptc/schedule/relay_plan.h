// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The plan that agents carry out if bytes may be relayed, so that they cross to a node once.

#include "ptc/layout.h"
#include "ptc/plan/plan.h"
#include "ptc/topology/topology.h"

namespace tessera::ptc {

/// Returns `plan` with relays (RelayedHops) for the cells that several devices of one node receive
/// from other hosts. Such a cell crosses the network once, in slices. Moves that are `forwarded`
/// copy the slices from the devices that received them to the others of the node. Each target
/// element is still written once, so `bytes.moved()` is unchanged; network bytes become host bytes,
/// and no port is busy for longer than the busiest one was. Sums, busiest port, estimate and hash
/// are those of the new moves.
///
/// Forwarded moves begin when all others have arrived and have been verified. If that takes longer
/// than sending everything directly, or if nothing can be relayed, the result is `plan` itself.
/// \pre `plan` is MakePlan(from, to, topology), without conversions of dtypes
Plan RelayPlan(const Plan& plan, const Layout& from, const Layout& to, const Topology& topology);

}  // namespace tessera::ptc
